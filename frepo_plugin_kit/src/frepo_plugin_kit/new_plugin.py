"""The command that writes a new plug-in."""

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from string import Template

from frepo_core.cli import FrepoCommand
from frepo_core.plugins import ConfigurationError, FieldsError

from .kinds import KINDS
from .several_kinds import entry_module

WITH_SETTINGS = ("subscriber", "job")
NAME = re.compile("[a-z][a-z0-9_]*")


class PluginNew(FrepoCommand):
    """Write a package with a new plug-in and its tests into a new folder. Needs no ini file."""

    examples = (
        "frepo plugin:new strategy keep_monthly",
        "frepo plugin:new subscriber chat --settings",
        "frepo plugin:new wal --with tables,job,slot,endpoint",
    )

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("kind", choices=list(KINDS), nargs="?", help="what the plug-in provides")
        parser.add_argument("name", help="the name of the plug-in: small letters, digits and underscores")
        parser.add_argument(
            "--with",
            dest="kinds",
            metavar="KINDS",
            help="several kinds in one package, with commas, in place of a kind",
        )
        parser.add_argument(
            "--in", dest="folder", metavar="FOLDER", default=".", help="where; default: the current folder"
        )
        parser.add_argument(
            "--settings",
            action="store_true",
            help="a subscriber or a job gets a setting, too; a storage, a layer, a check, a policy, a command, a "
            "metric and a doctor always have one",
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Write the files; print their folder and what to do next."""
        if not NAME.fullmatch(arguments.name):
            raise FieldsError({"NAME": [f"is {arguments.name!r}; write small letters, digits and underscores"]})
        kinds = _kinds(arguments)
        _check_settings(kinds, is_given=arguments.settings)
        write = _single if arguments.kind else _several
        distribution, contents = write(kinds, arguments.name, has_settings=arguments.settings)
        folder = Path(arguments.folder) / distribution
        try:
            folder.mkdir(parents=True)
            for path, text in contents.items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"The folder {folder} cannot be written: {error.strerror}") from error
        self.say(f"{folder}\nNext: cd {folder} && pip install -e '.[test]' && pytest && frepo plugins")


def _kinds(arguments: argparse.Namespace) -> list[str]:
    """Return the kinds of the package. Raises `FieldsError`."""
    if (arguments.kind is None) == (arguments.kinds is None):
        raise FieldsError({"KIND": [f"is one of {', '.join(KINDS)}, or write --with KIND,KIND for several"]})
    if arguments.kind:
        return [arguments.kind]
    kinds = list(dict.fromkeys(arguments.kinds.split(",")))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise FieldsError({"--with": [f"{unknown[0]!r} is not one of {', '.join(KINDS)}"]})
    if {"storage", "layer"} <= {*kinds}:
        raise FieldsError({"--with": ["takes a storage or a layer, which is a storage over another one"]})
    return kinds


def _check_settings(kinds: Sequence[str], *, is_given: bool) -> None:
    reasons = [KINDS[kind].no_settings for kind in kinds]
    if is_given and all(reasons):
        raise FieldsError({"--settings": [reasons[0]]})


def _single(kinds: Sequence[str], name: str, *, has_settings: bool) -> tuple[str, dict[str, str]]:
    """Return the name of the distribution, and the texts of its files by path."""
    [kind] = kinds
    module, distribution = f"frepo_{kind}_{name}", f"frepo-{kind}-{_dashed(name)}"
    values = _values(kinds, name, module, distribution, KINDS[kind].description)
    modules = {
        f"src/{module}/{path}": _fill(source, values) for path, source in _sources(kind, has_settings=has_settings)
    }
    test = _fill(f"{_template(kind, has_settings=has_settings)}.test.template", values)
    return distribution, {
        **_common(kinds, values, [values]),
        **modules,
        f"src/{module}/py.typed": "",
        f"tests/test_{name}.py": test,
    }


def _several(kinds: Sequence[str], name: str, *, has_settings: bool) -> tuple[str, dict[str, str]]:
    """Return the same for a package of several kinds, each with a folder and a test of its own."""
    module, distribution = f"frepo_{name}", f"frepo-{_dashed(name)}"
    values = _values(kinds, name, module, distribution, f"A plug-in for frepo: {', '.join(kinds)}")
    contents: dict[str, str] = {}
    sources, of_kinds = {}, []
    for kind in kinds:
        own = _values([kind], name, f"{module}.{kind}", distribution, KINDS[kind].description)
        # Two kinds of one package cannot share a path, or the name of a class in the OpenAPI document.
        own |= {"path": f"{own['path']}-{kind}", "Class": f"{own['Class']}{kind.capitalize()}"}
        texts = {path: _fill(source, own) for path, source in _sources(kind, has_settings=has_settings)}
        contents |= {f"src/{module}/{kind}/{path}": text for path, text in texts.items()}
        contents[f"tests/test_{kind}.py"] = _fill(f"{_template(kind, has_settings=has_settings)}.test.template", own)
        sources[kind] = texts["__init__.py"]
        of_kinds.append(own)
    entry = Template(entry_module(sources)).substitute(values)
    contents |= {f"src/{module}/__init__.py": entry, f"src/{module}/py.typed": ""}
    return distribution, {**_common(kinds, values, of_kinds), **contents}


def _common(kinds: Sequence[str], values: Mapping[str, str], of_kinds: Sequence[Mapping[str, str]]) -> dict[str, str]:
    metadata = "".join(
        _fill(source, own) for kind, own in zip(kinds, of_kinds, strict=True) for source in KINDS[kind].metadata
    )
    return {
        "pyproject.toml": _fill("pyproject.toml.template", values) + metadata,
        "README.md": _fill("README.md.template", values),
    }


def _values(kinds: Sequence[str], name: str, module: str, distribution: str, description: str) -> dict[str, str]:
    words = name.replace("_", " ").strip()
    return {
        "name": name,
        "NAME": name.upper(),
        "Class": "".join(part.capitalize() for part in name.split("_")),
        "module": module,
        "distribution": distribution,
        "path": _dashed(name),
        "title": words[:1].upper() + words[1:],
        "description": description,
        "dependencies": "".join(KINDS[kind].dependencies for kind in kinds),
        "data": "".join(dict.fromkeys(KINDS[kind].data for kind in kinds)),
    }


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _template(kind: str, *, has_settings: bool) -> str:
    return f"{kind}.settings" if has_settings and kind in WITH_SETTINGS else kind


def _sources(kind: str, *, has_settings: bool) -> Iterator[tuple[str, str]]:
    """Yield the modules of a kind with their templates."""
    yield "__init__.py", f"{_template(kind, has_settings=has_settings)}.template"
    yield from KINDS[kind].modules.items()


def _fill(template: str, values: Mapping[str, str]) -> str:
    text = files("frepo_plugin_kit").joinpath("templates", template).read_text()
    return Template(text).substitute(values)
