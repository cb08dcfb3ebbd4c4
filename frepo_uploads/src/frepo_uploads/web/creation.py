"""The body of a POST: it may have the first part of the upload that it makes."""

import contextlib

from frepo_core.plugins import EndpointError

from ..receiving import NoPart, Part
from ..session import BusyError, GoneError, Upload
from ..sessions import Sessions


class CreatedPart:
    """The upload that a POST has made, and its first part if it has one.

    If that breaks off or is refused, the upload ends: its client has not learnt its address.
    """

    def __init__(self, sessions: Sessions, upload: Upload, part: Part | NoPart | None) -> None:
        self.part = part
        self._sessions = sessions
        self._created = upload

    @property
    def upload(self) -> Upload:
        """The upload, after what has arrived."""
        return self._created if self.part is None else self.part.upload

    def write(self, piece: bytes) -> None:
        """Take the next bytes. Raises an `EndpointError`."""
        if self.part is None:
            raise EndpointError(415, "The body of a POST is a part: send its Content-Type")
        self.part.write(piece)

    def ended(self, ok: bool) -> None:
        """Take the end. Raises an `EndpointError`."""
        try:
            if self.part is not None:
                self.part.ended(ok)
        except BaseException:
            self._forget()
            raise
        if not ok:
            self._forget()

    def _forget(self) -> None:
        found = self._sessions.uploads.find(self._created.id)
        if found is not None and found.is_open:
            with contextlib.suppress(BusyError, GoneError):
                self._sessions.end(found, by=found.creator, message="the request that made it broke off")
