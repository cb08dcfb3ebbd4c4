"""Parts of backups for frepo: one table of a dump, one file of an archive."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from frepo_core.plugins import Job, PartReader, PartRestorer, SettingsSpec, hookimpl

from .settings import PartsSettings

if TYPE_CHECKING:
    from frepo_core.plugins import PluginContext
    from frepo_core.web import Endpoint

__all__ = [
    "PartsSettings",
    "frepo_endpoints",
    "frepo_jobs",
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
def frepo_jobs() -> Sequence[Job]:
    """List contents before somebody asks."""
    from .job import make_job

    return [make_job()]
