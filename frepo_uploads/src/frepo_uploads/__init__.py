"""Uploads in parts for frepo: they survive a broken connection, and nothing is stored before they are complete."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import (
    ConsoleSlot,
    Job,
    JobContext,
    Lifecycle,
    Pages,
    PluginContext,
    PluginEventKind,
    SettingsSpec,
    hookimpl,
)

from .settings import UploadsSettings
from .upkeep import Upkeep

if TYPE_CHECKING:
    from frepo_core.web import Endpoint

__all__ = [
    "UploadsSettings",
    "frepo_console_slots",
    "frepo_endpoints",
    "frepo_event_kinds",
    "frepo_jobs",
    "frepo_lifecycle",
    "frepo_pages",
    "frepo_settings",
]

_KEYS = ("received", "size", "message")


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `uploads.*`."""
    return SettingsSpec(prefix="uploads", model=UploadsSettings)


@hookimpl
def frepo_event_kinds() -> Sequence[PluginEventKind]:
    """Declare what can happen to an upload that does not become a version. The others have the usual events."""
    return [
        PluginEventKind(
            name="uploads.aborted",
            sentence="An upload in parts was ended by its client or an operator. One event counts those of a minute.",
            keys=(*_KEYS, "count"),
        ),
        PluginEventKind(
            name="uploads.expired",
            sentence="An upload in parts ended because no part came in time, or to make room for another one.",
            keys=_KEYS,
        ),
        PluginEventKind(
            name="uploads.lost", sentence="The file of an upload in parts was missing on the disk.", keys=_KEYS
        ),
        PluginEventKind(
            name="uploads.host_lost",
            sentence="A host did not come back, and the uploads in parts that it had are lost.",
            keys=("host", "uploads", "message"),
        ),
    ]


@hookimpl
def frepo_endpoints(context: PluginContext) -> "Sequence[Endpoint]":
    """Serve tus 1.0 at `/api/v1/uploads`."""
    from .web.endpoints import make_endpoints  # `frepo` loads this module, too, and needs no web

    return make_endpoints(context)


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the module of the card."""
    return [Pages(path="uploads", folder=Path(__file__).parent / "pages", title="Open uploads")]


@hookimpl
def frepo_console_slots() -> Sequence[ConsoleSlot]:
    """Show the open uploads of a collection on its page in the web console."""
    return [
        ConsoleSlot(
            place="collection.card", name="open_uploads", title="Open uploads", module="uploads/open_uploads.js"
        )
    ]


@hookimpl
def frepo_jobs() -> Sequence[Job]:
    """End uploads that wait too long."""
    summary = "End uploads in parts that wait too long for the next part, and report hosts that are gone"
    return [Job(name="uploads", schedule="every 10m", run=_end_uploads, summary=summary)]


def _end_uploads(context: JobContext) -> Mapping[str, Any]:
    from .expiry import run  # most commands need none of it

    return run(context)


@hookimpl
def frepo_lifecycle() -> Lifecycle:
    """Make the folder for open uploads, or refuse the start; look after it while the process serves."""
    upkeep = Upkeep()
    return Lifecycle(start=upkeep.start, stop=upkeep.stop)
