"""The command that writes a new plug-in."""

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from string import Template

from frepo_core.errors import ConfigurationError, FieldsError

from ...base import FrepoCommand


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What distinguishes the packages of one kind.

    `modules` are further files next to `__init__.py`, with their templates. In pyproject.toml, `dependencies` and
    `data` are added to lists, and the templates in `metadata` to the end. `no_settings` says why `--settings` is
    refused.
    """

    description: str
    modules: Mapping[str, str] = field(default_factory=dict)
    dependencies: str = ""
    data: str = ""
    metadata: tuple[str, ...] = ()
    no_settings: str = ""


KINDS = {
    "storage": Kind(description="A storage for frepo"),
    "layer": Kind(description="A storage for frepo that keeps its blobs in another one"),
    "strategy": Kind(
        description="A collection strategy for frepo",
        no_settings="is not for a strategy; it has options, which each collection can set",
    ),
    "check": Kind(description="An upload check for frepo"),
    "policy": Kind(description="A policy for frepo: who may upload, delete or download versions, and when"),
    "subscriber": Kind(description="A subscriber of the events of frepo"),
    "notifier": Kind(
        description="A notifier for frepo: a further way for messages",
        no_settings="is not for a notifier; what it needs is in the URL of a target",
    ),
    "job": Kind(description="A periodic job for frepo"),
    "endpoint": Kind(
        description="An HTTP endpoint for frepo",
        modules={"views.py": "endpoint.views.template"},
        no_settings="is for a subscriber or a job; frepo_settings in docs/hooks.md gives an endpoint settings, too",
    ),
    "page": Kind(
        description="A page for the web console of frepo",
        modules={
            "pages/index.html": "page.html.template",
            "pages/page.js": "page.js.template",
            "pages/page.css": "page.css.template",
        },
        data=', "pages/*"',
        no_settings="is not for a page, which is a folder of static files",
    ),
    "slot": Kind(
        description="A card of the web console of frepo, on the page of each collection",
        modules={"pages/card.js": "slot.js.template"},
        data=', "pages/*"',
        no_settings="is not for a slot, which is a module of the web console",
    ),
    "command": Kind(
        description="A command of frepo",
        modules={"commands.py": "command.commands.template"},
        metadata=("command.pyproject.template",),
    ),
    "metric": Kind(
        description="A metric and a health check for frepo",
        modules={"collector.py": "metric.collector.template"},
        dependencies=', "prometheus-client >=0.21"',
    ),
    "doctor": Kind(description="A check of frepo doctor"),
    "tables": Kind(
        description="Tables of its own for a plug-in of frepo",
        modules={
            "models.py": "tables.models.template",
            "views.py": "tables.views.template",
            "migrations/0001_tables.py": "tables.migration.template",
        },
        dependencies=', "sqlalchemy >=2.0", "alembic >=1.13"',
        data=', "migrations/*.py"',
        no_settings="is for a subscriber or a job; frepo_settings in docs/hooks.md gives tables settings, too",
    ),
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
    text = files("frepo_core.cli.plugin_templates").joinpath(template).read_text()
    return Template(text).substitute(values)
