"""Decides about an upload in parts by what is known before its content is complete."""

from collections.abc import Mapping
from dataclasses import dataclass

from frepo_core.plugins import EndpointError, Identity, PluginContext

# What is compressed may be twice as large as its content, and so much more: noise grows.
ENVELOPE = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Start:
    """What is known before the content. Sizes are in bytes.

    `max_size` is that of what is sent, None for no limit; `room` is None if it is unknown.
    """

    max_size: int | None
    last_number: int | None = None
    room: int | None = None


class Admission:
    """Refuses what would be refused later. `context` is the plug-in's."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    def check(self, fields: Mapping[str, str], size: int | None, by: Identity, coding: str | None) -> Start:
        """Return what is known about an upload of `size` bytes. Raises the errors of an ordinary one.

        `fields` are the keys of Upload-Metadata, `coding` is its Content-Encoding.
        """
        check = self._of_version if fields.get("collection") else self._of_file
        if coding is None:
            return check(fields, by, size)
        start = check(fields, by, None)
        if start.max_size is None:
            return start
        if size is not None and size > _sendable(start.max_size):
            check(fields, by, size)
        return Start(max_size=_sendable(start.max_size), last_number=start.last_number, room=start.room)

    def _of_version(self, fields: Mapping[str, str], by: Identity, size: int | None) -> Start:
        found = self._context.service.may_add_version(fields["collection"], by=by, size=size)
        return Start(max_size=found.max_size, last_number=found.last_number, room=found.room)

    def _of_file(self, fields: Mapping[str, str], by: Identity, size: int | None) -> Start:
        if not (name := fields.get("filename")):
            raise EndpointError(400, "Upload-Metadata must have the key `collection`, with its id, or `filename`")
        return Start(max_size=self._context.service.may_upload_file(name, by=by, size=size))


def _sendable(largest: int) -> int:
    """Return how many bytes a compressed content may have that becomes at most `largest` bytes."""
    return 2 * largest + ENVELOPE
