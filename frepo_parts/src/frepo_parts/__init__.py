"""Parts of backups for frepo: one table of a dump, one file of an archive."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import (
    ConsoleSlot,
    ContentFollower,
    FollowedContent,
    FoundPart,
    Job,
    JobContext,
    OpenedContent,
    Pages,
    PartReader,
    PartRestorer,
    PluginContext,
    SettingsSpec,
    hookimpl,
)

from .settings import PartsSettings

if TYPE_CHECKING:
    from frepo_core.web import Endpoint

# Contents below this size are listed when somebody asks: starting a process for each would cost more than that.
_SMALLEST = 1 << 20

__all__ = [
    "PartsSettings",
    "frepo_console_slots",
    "frepo_content_followers",
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
def frepo_content_followers() -> Sequence[ContentFollower]:
    """List the parts of a content when it is checked."""
    return [ContentFollower(name="parts", follow=_list_with_check, smallest=_SMALLEST)]


@hookimpl
def frepo_part_readers() -> Sequence[PartReader]:
    """Read the formats of frepo."""
    from .formats.readers import READERS  # `frepo --help` needs none of them

    return READERS


@hookimpl
def frepo_part_restorers() -> Sequence[PartRestorer]:
    """Serve `frepo restore --table` and `--path`."""
    return [PartRestorer(name="parts", table=_find_table, path=_write_path)]


@hookimpl
def frepo_endpoints(context: PluginContext) -> "Sequence[Endpoint]":
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
    """List large contents that were not listed with their check, before somebody asks."""
    summary = "List the tables and files in large backups that have no list yet"
    return [Job(name="parts", schedule="every 15m", run=_list_contents, lane="medium", summary=summary)]


# Most commands need none of what these import.


def _find_table(content: OpenedContent, name: str, context: PluginContext) -> FoundPart:
    from .restoring import find_table

    return find_table(content, name, context)


def _write_path(content: OpenedContent, path: str, folder: Path, context: PluginContext) -> Sequence[str]:
    from .restoring import write_path

    return write_path(content, path, folder, context)


def _list_with_check(content: FollowedContent, context: PluginContext) -> None:
    from .listings import listings_of

    listings_of(context).make_along(content)


def _list_contents(context: JobContext) -> Mapping[str, Any]:
    from .job import run

    return run(context)
