"""One package with plug-ins of several kinds: a folder for each, and a module with the hooks of all."""

import re
from collections.abc import Mapping

_HOOK = re.compile(r"^def (frepo_\w+)\((\w*)", re.MULTILINE)
# These hooks return one object.
SETTINGS, _SINGLE = "frepo_settings", ("frepo_tables",)


def entry_module(sources: Mapping[str, str]) -> str:
    """Return the source of the module that the entry point names. `sources` are those of the kinds, by kind."""
    hooks: dict[str, dict[str, str]] = {}
    for kind, source in sources.items():
        for name, parameter in _HOOK.findall(source):
            hooks.setdefault(name, {})[kind] = f"{kind}.{name}({parameter})"
    parts = [_head(sources, hooks), *(_function(name, calls) for name, calls in sorted(hooks.items()))]
    return "\n\n\n".join(parts) + "\n"


def _head(kinds: Mapping[str, str], hooks: Mapping[str, Mapping[str, str]]) -> str:
    names = ["hookimpl"]
    if any("(context)" in call for calls in hooks.values() for call in calls.values()):
        names.insert(0, "PluginContext")
    if SETTINGS in hooks:
        names.insert(len(names) - 1, "SettingsSpec")
    head = '"""The hooks of `$name`. Each kind is in a folder of its own."""\n\nfrom typing import Any\n\n'
    head += f"from frepo_core.plugins import {', '.join(names)}\n\nfrom . import {', '.join(sorted(kinds))}"
    return head if SETTINGS not in hooks else f"{head}\n\n\n{_settings(hooks[SETTINGS])}"


def _settings(calls: Mapping[str, str]) -> str:
    """Return the class of the settings: those of all kinds, which a plug-in has under one prefix."""
    bases = ", ".join(f"{kind}.Settings" for kind in calls)
    return f'class Settings({bases}):\n    """`$name.*` in the ini file, `${{NAME}}_*` in the environment."""'


def _function(name: str, calls: Mapping[str, str]) -> str:
    """Return the source of a hook. A hook may occur once in a module, so it returns what those of all kinds return."""
    if name == SETTINGS:
        body, kind = 'SettingsSpec(prefix="$name", model=Settings)', "SettingsSpec"
    elif len(calls) == 1:
        [body], kind = calls.values(), "Any" if name in _SINGLE else "list[Any]"
    else:
        body, kind = f"[{', '.join(f'*{call}' for call in calls.values())}]", "list[Any]"
    parameter = "context: PluginContext" if "(context)" in body else ""
    what = name.removeprefix("frepo_").replace("_", " ")
    return f'@hookimpl\ndef {name}({parameter}) -> {kind}:\n    """Provide the {what}."""\n    return {body}'
