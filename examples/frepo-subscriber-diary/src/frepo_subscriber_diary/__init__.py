"""A subscriber for frepo that appends each event to a file."""

import json
import os
from pathlib import Path
from typing import BinaryIO

from pydantic import Field

from frepo_core.plugins import HARMLESS, Event, PluginContext, PluginSettings, SettingsSpec, Subscriber, Words, hookimpl

LAST_BYTES = 1 << 18  # some hundred events: a repetition follows soon


class DiarySettings(PluginSettings):
    """`diary.*`, `DIARY_*`."""

    file: Path | None = Field(
        None, description="The file; it is created. Empty: nothing is written.", json_schema_extra=HARMLESS
    )
    kinds: Words = Field(
        ("*",),
        min_length=1,
        description="Kinds of events, or patterns such as `version.*`.",
        json_schema_extra=HARMLESS,
    )


def append(event: Event, context: PluginContext) -> None:
    """Append the event as a line of JSON, unless one of the last lines has its id.

    A later position says nothing: a parked event that is retried comes after later ones.
    """
    line = {
        "id": event.id,
        "position": event.position,
        "at": event.at.isoformat(),
        "kind": event.kind,
        "actor": event.actor,
        "collection": event.collection_id,
        "version": event.version_number,
        "data": dict(event.data),
    }
    with context.settings.file.open("ab+") as file:
        if any(known.startswith(b'{"id": %d, ' % event.id) for known in _last_lines(file)):
            return
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _last_lines(file: BinaryIO) -> list[bytes]:
    """Return the last lines of the file. A line that was cut is removed."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - LAST_BYTES))
    whole, _, cut = file.read().rpartition(b"\n")
    if cut:
        file.truncate(end - len(cut))
    return whole.split(b"\n")


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare `diary.*`."""
    return SettingsSpec(prefix="diary", model=DiarySettings)


@hookimpl
def frepo_subscribers(context: PluginContext) -> list[Subscriber]:
    """Provide the subscriber, if a file is set."""
    if context.settings.file is None:
        return []
    return [Subscriber(name="diary", kinds=context.settings.kinds, handle=append)]
