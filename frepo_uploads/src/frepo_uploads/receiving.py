"""Receives one part of an upload: what arrives goes to the disk, is synced, and is acknowledged."""

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import Any

from frepo_core.plugins import EndpointError, Identity

from .disk.digests import Digests
from .disk.part_file import PartFile, WriterLostError, delete
from .outcomes import describe_refusal
from .refusals import Refusals
from .rooms import Rooms
from .session import BusyError, GoneError, State, Upload
from .uploads import Uploads, now
from .web.tus_headers import Checksum

# A part that is larger, or arrives more slowly, is acknowledged in steps: each costs a sync and a row.
STEP_BYTES = 32 << 20
STEP_SECONDS = 5.0
MISMATCH = 460
# So many bytes say how much memory it takes to decode what follows.
START_BYTES = 32


class Part:
    """The body of one request. `write` is called while it arrives, `ended` when it ends or breaks off.

    Without a checksum, what has arrived is acknowledged also if the connection breaks; with one, nothing is until the
    checksum was compared (tus 1.0, checksum). The bytes that complete an upload that commits itself are not
    acknowledged here: `upload` is `committing` then, and `file` stays locked for the commit.
    """

    def __init__(
        self,
        uploads: Uploads,
        digests: Digests,
        refusals: Refusals,
        rooms: Rooms,
        upload: Upload,
        file: PartFile,
        *,
        checksum: Checksum | None,
        identify: Callable[[], Identity],
        ends_at: datetime | None = None,
    ) -> None:
        """`identify` returns who sends the part, and raises if the token has become invalid meanwhile.

        From `ends_at` on (UTC, aware), no more is taken.
        """
        self.upload = upload
        self.file = file
        self.by = upload.creator
        self._uploads = uploads
        self._digests = digests
        self._identify = identify
        self._refusals = refusals
        self._rooms = rooms
        self._admitted = file.offset + STEP_BYTES
        self._checksum = checksum
        self._hash = checksum.new_hash() if checksum else None
        self._synced_at = time.monotonic()
        self._ends_at = ends_at
        self._is_start_known = upload.offset >= START_BYTES

    def write(self, piece: bytes) -> None:
        """Take the next bytes. Raises `EndpointError`, `StorageFull` or `StorageUnavailable`."""
        if self._ends_at is not None and now() > self._ends_at:
            raise GoneError("The token of the upload has expired too long ago: begin again with another one")
        with self._recorded():
            self._require_room(len(piece))
            self._alone(lambda: self.file.write(piece))
            self._check_coding()
            self._take(piece)

    def _require_room(self, size: int) -> None:
        """Ask for the room of an upload without a length before each step, but the first: that was asked for."""
        if self.upload.length is None and self.file.offset + size > self._admitted:
            arrived = replace(self.upload, offset=self.file.offset)
            left = self._rooms.next_step(arrived, size, self.by)
            self._admitted = self.file.offset + max(min(left, STEP_BYTES), size)

    def _check_coding(self) -> None:
        """End an upload whose first bytes say that the commit could not decode it."""
        if self._is_start_known or self.upload.coding is None:
            return
        from frepo_core.web import check_coded_start  # a command that lists uploads need not import it

        try:
            self._is_start_known = check_coded_start(self.file.read(0, START_BYTES), self.upload.coding)
        except EndpointError as error:
            outcome = describe_refusal(error)
            self.upload = self._uploads.change(self.upload, State.FAILED, ended_at=now(), outcome=outcome)
            delete(self.file.path.parent, self.upload.id)
            raise

    def _take(self, piece: bytes) -> None:
        if self._hash is not None:
            self._hash.update(piece)
            return
        arrived = self.file.offset - self.upload.offset
        is_due = arrived >= STEP_BYTES or time.monotonic() - self._synced_at >= STEP_SECONDS
        if is_due and self.file.offset != self.upload.length:
            self._acknowledge(State.RECEIVING)

    def ended(self, ok: bool) -> None:
        """Take the end. Raises what `write` does, and `EndpointError` with 460 for another checksum."""
        is_committing = False
        try:
            with self._recorded():
                if ok:
                    is_committing = self._finish()
                elif self._has_more():
                    self._acknowledge(State.RECEIVING)
        finally:
            if not is_committing:
                self.file.close()

    def _has_more(self) -> bool:
        """Return whether a part that broke off has bytes to acknowledge, and not the last ones of the upload."""
        is_kept = self._hash is None and self.upload.is_open
        return is_kept and self.file.offset not in {self.upload.offset, self.upload.length}

    def _recorded(self) -> AbstractContextManager[None]:
        return self._refusals.recorded(self.upload.collection_id, by=self.by, size=self.upload.length)

    def _finish(self) -> bool:
        self.by = self._identify()
        if self._hash is not None and self._checksum and self._hash.digest() != self._checksum.digest:
            raise EndpointError(MISMATCH, "The part does not match its Upload-Checksum: send it again")
        state = self.upload.after_part(self.file.offset)
        if state is not State.COMMITTING:
            self._acknowledge(state)
            return False
        self.file.sync()
        self._alone(self.file.require_lock)
        # The offset stays: a client takes an upload for stored when its offset is its length.
        self.upload = self._uploads.change(self.upload, State.COMMITTING, touched_at=now())
        return True

    def _acknowledge(self, state: State) -> None:
        offset = self.file.sync()
        self._alone(self.file.require_lock)
        begin = self.upload.offset
        self.upload = self._uploads.change(self.upload, state, offset=offset, touched_at=now())
        if self.upload.coding is None:  # otherwise the digest is of what the commit decodes
            self._digests.follow(self.upload.id, self.file.path, begin, offset)
        self._synced_at = time.monotonic()

    def _alone(self, step: Callable[[], Any]) -> None:
        try:
            step()
        except WriterLostError:
            raise BusyError(
                409, "Another request has taken the upload over, because nothing came here", retry_after=1
            ) from None


class NoPart:
    """The empty body of a PATCH at the end of an upload: it only asks for the outcome."""

    def __init__(self, upload: Upload) -> None:
        self.upload = upload

    def write(self, piece: bytes) -> None:
        """Refuse bytes after the end."""
        raise EndpointError(409, "The upload is complete: it takes no more bytes")

    def ended(self, ok: bool) -> None:
        """Do nothing."""
