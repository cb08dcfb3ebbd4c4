"""The kinds of plug-ins that `frepo plugin:new` writes. Their files are in `templates`."""

from collections.abc import Mapping
from dataclasses import dataclass, field


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
