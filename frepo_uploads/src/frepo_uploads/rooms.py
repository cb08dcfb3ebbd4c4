"""Asks whether there is room for an upload in parts: when it is made, at each part, and while a part arrives."""

from collections.abc import Sequence

from frepo_core.plugins import Identity, PluginContext

from .admission import Admission, Start
from .disk.place import Place
from .disk.room import Room
from .session import Upload
from .settings import UploadsSettings, share_of
from .uploads import Uploads


class Rooms:
    """The room of the uploads in the folder of this host. `context` is the plug-in's."""

    def __init__(self, context: PluginContext, admission: Admission, uploads: Uploads, place: Place) -> None:
        self._service = context.service
        self._settings: UploadsSettings = context.settings
        self._admission = admission
        self._uploads = uploads
        self._place = place

    def make_way(self, upload: Upload, others: Sequence[Upload], start: Start) -> Sequence[Upload]:
        """Return which of the `others` give way to a new upload. Raises what `Room.admit` does."""
        here = [each for each in others if each.place == upload.place]
        room = self._room(upload, here, start)
        return room.admit(upload, here, max_version=start.max_size, now=upload.created_at)

    def limit_part(self, upload: Upload, length: int | None, announced: int | None, by: Identity) -> int:
        """Return how many bytes a part of an upload may have that began without a length, which `length` is now.

        `announced` is the size of the part in bytes, None if it is not known. Raises an `EndpointError` with 507 if
        that has no room.
        """
        start = self._admission.check(upload.metadata, length, by, upload.coding)
        room, left = self._left(upload, start)
        allowed = left if start.max_size is None else max(start.max_size - upload.offset, 0)
        wanted = announced if length is None else length - upload.offset
        if left < (wanted or 0) <= allowed:  # one that is too large anyway is refused for good, not for lack of room
            raise room.exceeded(left)
        return min(left, allowed) if length is None else length - upload.offset

    def next_step(self, upload: Upload, size: int, by: Identity) -> int:
        """Ask again for an upload without a length, of which a part arrives. Return how many bytes more may arrive now.

        Others have taken room since the part began. Raises an `EndpointError` with 507 if there is none for `size`
        bytes.
        """
        room, left = self._left(upload, self._admission.check(upload.metadata, None, by, upload.coding))
        if left < size:
            raise room.exceeded(left)
        return left

    def _left(self, upload: Upload, start: Start) -> tuple[Room, int]:
        others = [each for each in self._uploads.all_open() if each.place == upload.place and each.id != upload.id]
        room = self._room(upload, [upload, *others], start)
        return room, room.left(upload, others, max_version=start.max_size)

    def _room(self, upload: Upload, here: Sequence[Upload], start: Start) -> Room:
        """Return the room of the uploads in this folder, which `here` are."""
        free = self._place.free() if start.room is None else min(start.room, self._place.free())
        return Room(
            total=share_of(self._settings.max_total, free + sum(each.offset for each in here)),
            max_open=1 if self._service.ends_with_upload(upload.creator) else self._settings.max_open,
        )
