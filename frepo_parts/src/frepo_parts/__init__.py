"""Parts of backups for frepo: one table of a dump, one file of an archive."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frepo_core.plugins import ConsoleSlot, Job, Pages, PartReader, PartRestorer, SettingsSpec, hookimpl

from .settings import PartsSettings

if TYPE_CHECKING:
    from frepo_core.plugins import PluginContext
    from frepo_core.web import Endpoint

__all__ = [
    "PartsSettings",
    "frepo_console_slots",
    "frepo_endpoints",
    "frepo_jobs",
    "frepo_pages",
    "frepo_part_readers",
    "frepo_part_restorers",
    "frepo_settings",
]


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `parts.*`."""
    return SettingsSpec(prefix="parts", model=PartsSettings)


@hookimpl
def frepo_part_readers() -> Sequence[PartReader]:
    """Read the formats of frepo."""
    from .formats.readers import READERS  # `frepo --help` needs none of them

    return READERS


@hookimpl
def frepo_part_restorers() -> Sequence[PartRestorer]:
    """Serve `frepo restore --table` and `--path`."""
    from . import restoring

    return [PartRestorer(name="parts", table=restoring.find_table, path=restoring.write_path)]


@hookimpl
def frepo_endpoints(context: "PluginContext") -> "Sequence[Endpoint]":
    """Serve `contents` below a version."""
    from .web.endpoints import make_endpoints  # `frepo` loads this module, too, and needs no web

    return make_endpoints(context)


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the module of the dialog."""
    return [Pages(path="parts", folder=Path(__file__).parent / "pages", title="Parts of backups")]


@hookimpl
def frepo_console_slots() -> Sequence[ConsoleSlot]:
    """Show the parts of a version in the web console, and what changed since the one before."""
    return [ConsoleSlot(place="version.action", name="contents", title="Contents", module="parts/contents.js")]


@hookimpl
def frepo_jobs() -> Sequence[Job]:
    """List contents before somebody asks."""
    from .job import make_job

    return [make_job()]
