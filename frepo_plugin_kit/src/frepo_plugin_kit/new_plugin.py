"""The command that writes a new plug-in."""

import argparse
import re
from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from string import Template

from frepo_core.cli import FrepoCommand
from frepo_core.plugins import ConfigurationError, FieldsError

from .kinds import KINDS

WITH_SETTINGS = ("subscriber", "job")
NAME = re.compile("[a-z][a-z0-9_]*")


class PluginNew(FrepoCommand):
    """Write a package with a new plug-in and its tests into a new folder. Needs no ini file."""

    examples = ("frepo plugin:new strategy keep_monthly", "frepo plugin:new subscriber chat --settings")

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("kind", choices=list(KINDS), help="what the plug-in provides")
        parser.add_argument("name", help="the name of the plug-in: small letters, digits and underscores")
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
        if arguments.settings and (reason := KINDS[arguments.kind].no_settings):
            raise FieldsError({"--settings": [reason]})
        values = _values(arguments.kind, arguments.name)
        template = (
            f"{arguments.kind}.settings" if arguments.settings and arguments.kind in WITH_SETTINGS else arguments.kind
        )
        folder = Path(arguments.folder) / values["distribution"]
        try:
            folder.mkdir(parents=True)
            for path, sources in _paths(arguments.kind, template, values).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                text = "".join(_fill(source, values) for source in sources)
                (folder / path).write_text(text, encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"The folder {folder} cannot be written: {error.strerror}") from error
        self.say(f"{folder}\nNext: cd {folder} && pip install -e '.[test]' && pytest && frepo plugins")


def _values(kind: str, name: str) -> dict[str, str]:
    dashed = name.replace("_", "-")
    words = name.replace("_", " ").strip()
    return {
        "name": name,
        "NAME": name.upper(),
        "Class": "".join(part.capitalize() for part in name.split("_")),
        "module": f"frepo_{kind}_{name}",
        "distribution": f"frepo-{kind}-{dashed}",
        "path": dashed,
        "title": words[:1].upper() + words[1:],
        "description": KINDS[kind].description,
        "dependencies": KINDS[kind].dependencies,
        "data": KINDS[kind].data,
    }


def _paths(kind: str, template: str, values: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the templates of each file. `template` is the kind, or the kind with settings."""
    module = f"src/{values['module']}"
    return {
        "pyproject.toml": ("pyproject.toml.template", *KINDS[kind].metadata),
        "README.md": ("README.md.template",),
        f"{module}/__init__.py": (f"{template}.template",),
        f"{module}/py.typed": (),
        **{f"{module}/{path}": (source,) for path, source in KINDS[kind].modules.items()},
        f"tests/test_{values['name']}.py": (f"{template}.test.template",),
    }


def _fill(template: str, values: Mapping[str, str]) -> str:
    text = files("frepo_plugin_kit").joinpath("templates", template).read_text()
    return Template(text).substitute(values)
