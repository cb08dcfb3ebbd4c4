"""The command that writes a new plug-in."""

import argparse
import re
from importlib.resources import files
from pathlib import Path
from string import Template

from frepo_core.errors import ConfigurationError, FieldsError

from ...base import FrepoCommand

KINDS = {
    "storage": "A storage for frepo",
    "strategy": "A collection strategy for frepo",
    "check": "An upload check for frepo",
    "subscriber": "A subscriber of the events of frepo",
    "job": "A periodic job for frepo",
}
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
            help="a subscriber or a job gets a setting, too; a storage and a check always have one",
        )
        return parser

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Write the files; print their folder and what to do next."""
        if not NAME.fullmatch(arguments.name):
            raise FieldsError({"NAME": [f"is {arguments.name!r}; write small letters, digits and underscores"]})
        if arguments.settings and arguments.kind == "strategy":
            raise FieldsError({"--settings": ["is not for a strategy; it has options, which each collection can set"]})
        values = _values(arguments.kind, arguments.name)
        template = (
            f"{arguments.kind}.settings" if arguments.settings and arguments.kind in WITH_SETTINGS else arguments.kind
        )
        folder = Path(arguments.folder) / values["distribution"]
        try:
            folder.mkdir(parents=True)
            for path, source in _paths(template, values).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(_fill(source, values), encoding="utf-8")
        except OSError as error:
            raise ConfigurationError(f"The folder {folder} cannot be written: {error.strerror}") from error
        self.say(f"{folder}\nNext: cd {folder} && pip install -e '.[test]' && pytest && frepo plugins")


def _values(kind: str, name: str) -> dict[str, str]:
    dashed = name.replace("_", "-")
    return {
        "name": name,
        "NAME": name.upper(),
        "Class": "".join(part.capitalize() for part in name.split("_")),
        "module": f"frepo_{kind}_{name}",
        "distribution": f"frepo-{kind}-{dashed}",
        "description": KINDS[kind],
    }


def _paths(template: str, values: dict[str, str]) -> dict[str, str]:
    """Return the template of each file. `template` is the kind, or the kind with settings."""
    return {
        "pyproject.toml": "pyproject.toml.template",
        "README.md": "README.md.template",
        f"src/{values['module']}/__init__.py": f"{template}.template",
        f"src/{values['module']}/py.typed": "",
        f"tests/test_{values['name']}.py": f"{template}.test.template",
    }


def _fill(template: str, values: dict[str, str]) -> str:
    if not template:
        return ""
    text = files("frepo_core.cli.plugin_templates").joinpath(template).read_text()
    return Template(text).substitute(values)
