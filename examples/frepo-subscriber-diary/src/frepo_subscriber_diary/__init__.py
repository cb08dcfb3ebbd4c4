"""A subscriber for frepo that appends each event to a file."""

import json
import os
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from frepo_core.plugins import Event, PluginContext, PluginSettings, SettingsSpec, Subscriber, hookimpl

LAST_BYTES = 1 << 20


def _split(value: Any) -> Any:
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


class DiarySettings(PluginSettings):
    """`diary.*`, `DIARY_*`."""

    file: Path | None = Field(None, description="The file; it is created. Empty: nothing is written.")
    kinds: Annotated[tuple[str, ...], BeforeValidator(_split)] = Field(
        ("*",), min_length=1, description="Kinds of events, or patterns such as `version.*`."
    )


def append(event: Event, context: PluginContext) -> None:
    """Append the event as a line of JSON, unless the last line has it or a later one."""
    line = {
        "position": event.position,
        "at": event.at.isoformat(),
        "kind": event.kind,
        "actor": event.actor,
        "collection": event.collection_id,
        "version": event.version_number,
        "data": dict(event.data),
    }
    with context.settings.file.open("ab+") as file:
        if event.position <= _last_position(file):
            return
        file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _last_position(file: Any) -> int:
    """Return the position in the last whole line, 0 if there is none. A line that was cut is removed."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(0, end - LAST_BYTES))
    tail = file.read()
    whole, _, cut = tail.rpartition(b"\n")
    if cut:
        file.truncate(end - len(cut))
    last = whole.rpartition(b"\n")[2]
    return int(json.loads(last)["position"]) if last else 0


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
