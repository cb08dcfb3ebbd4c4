"""The rows that `frepo plugins` shows: what each plug-in offers, and the settings of one."""

import os
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

from pydantic import BaseModel, SecretStr
from pydantic_core import PydanticUndefined

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import FoundPlugin, PluginContext, PluginRegistry, StrategySpec, UploadCheck
from frepo_core.settings import environment_name

OFFERS = ("Kind", "Name", "In use", "Entry point", "Package", "Version", "What it is")
SETTINGS = ("Setting", "Variable", "Default", "What it is")

# Hooks whose results only the web or a scrape makes.
_LATER = {"frepo_endpoints": "endpoints", "frepo_metrics": "metrics"}


def offer_rows(
    plugins: PluginRegistry, contexts: Mapping[str, PluginContext], adapter: str
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each storage, strategy, check, ... of all plug-ins, and for each of their commands."""
    for plugin in plugins.found:
        context = contexts.get(plugin.name)
        for kind, name, is_used, summary in _offers(plugin, context, adapter):
            used = "yes" if is_used else "no"
            yield kind, name, used, plugin.name, plugin.distribution, plugin.version, summary
    for entry in entry_points(group="frepo.commands"):
        if entry.dist and entry.dist.name != "frepo-core":
            yield "command", entry.name, "yes", entry.name, entry.dist.name, entry.dist.version, ""


def _offers(plugin: FoundPlugin, context: PluginContext | None, adapter: str) -> Iterator[tuple[str, str, bool, str]]:
    """Yield kind, name, whether it is in use, and a summary. Every strategy counts as in use: collections choose it."""
    for storage in plugin.storages:
        yield "storage", storage.name, storage.name == adapter, storage.summary
    for strategy in plugin.strategies:
        yield "strategy", strategy.name, True, strategy.summary + _options(strategy)
    for check in plugin.upload_checks:
        chosen = _on_finding(check, context)
        yield "upload check", check.name, chosen != "off", f"of {' and '.join(check.applies_to)}; findings: {chosen}"
    for subscriber in plugin.subscribers:
        yield "subscriber", subscriber.name, True, f"of {', '.join(subscriber.kinds)}"
    for job in plugin.jobs:
        yield "job", job.name, job.schedule != "off", f"{job.summary} ({job.schedule})".strip()
    for health_check in plugin.health_checks:
        yield "health check", health_check.name, True, f"deadline {health_check.deadline:g} s"
    for spec in plugin.settings:
        yield "settings", spec.prefix, True, f"see frepo plugins --settings {plugin.name}"
    for pages in plugin.pages():
        yield "pages", pages.path, True, f"{pages.title}, at /{pages.path}/"
    for _ in plugin.lifecycles:
        yield "lifecycle", plugin.name, True, ""
    for hook in sorted(plugin.hooks & _LATER.keys()):
        yield _LATER[hook], plugin.name, True, ""


def _options(strategy: StrategySpec) -> str:
    """Return the names and defaults of the options of a strategy, as an addition to its summary."""
    fields = strategy.options.model_fields if strategy.options else {}
    options = ", ".join(f"{name}={_default(field)}" for name, field in fields.items())
    return f" (options: {options})" if options else ""


def _on_finding(check: UploadCheck, context: PluginContext | None) -> str:
    """Return what follows a finding; `?` if the settings that decide it are wrong."""
    if not callable(check.on_finding):
        return check.on_finding
    try:
        return str(check.on_finding(context.settings)) if context else "?"
    except Exception:  # noqa: BLE001  # the function is the plug-in's
        return "?"


def setting_rows(plugins: PluginRegistry, name: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each setting of the plug-in with this name, of its storages too.

    Raises `ConfigurationError` if no plug-in has this name.
    """
    plugin = next((one for one in plugins.found if one.name == name), None)
    if plugin is None:
        installed = ", ".join(sorted(one.name for one in plugins.found))
        raise ConfigurationError(f"No installed plug-in is named {name!r}. Installed: {installed}.")
    models = [(spec.prefix, spec.model) for spec in plugin.settings]
    models += [(f"fs.{storage.name}", storage.settings) for storage in plugin.storages]
    for prefix, model in models:
        yield from _fields(prefix, model)


def _fields(prefix: str, model: type[BaseModel]) -> Iterable[tuple[str, ...]]:
    for field_name, field in model.model_fields.items():
        setting = f"{prefix}.{field_name}"
        yield setting, environment_name(setting), _default(field), field.description or ""


def _default(field: Any) -> str:
    if field.default_factory is None and field.default is PydanticUndefined:
        return "required"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else ""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, tuple | list) else "" if value is None else str(value)


def adapter_of(ini: Mapping[str, str]) -> str:
    """Return the name of the storage for new blobs."""
    return os.environ.get("FS_ADAPTER") or ini.get("fs.adapter") or "local"
