"""Parses requests with waitress, after checking the head, and counts the received bytes."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import RequestHeaderFieldsTooLarge

from .bodies.body_feed import BodyFeed
from .request_head import MAX_HEAD, LongLineError, MalformedHeadError, normalize, path_of

# After so many seconds without a byte of a body, its client may have given it up and begun again.
SILENCE = 10.0
END_OF_HEAD = b"\r\n\r\n"
DISCARDED_BYTES = 8 << 20


class RequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A request that is being received. If its head is too large, the rest of the head is read and discarded.

    Closing the connection while the client still sends would reset it, and the client might not get the answer.
    """

    body_rcv: Any
    header_plus: bytes
    # waitress reads these even if the head could not be parsed.
    command = path = query = request_uri = ""
    version = "1.0"

    # What the application has decided before the body arrived.
    is_decided = False
    aborted: Any = None  # the task that tells the application that the body will not end
    feed: BodyFeed | None = None
    decided_environ: Mapping[str, Any] = MappingProxyType({})
    owner: str | None = None

    _tail = b""
    _discarded = 0
    _is_discarding = False

    def __init__(self, adj: Any) -> None:
        super().__init__(adj)
        self.started_at = self.head_at = time.monotonic()
        self.received_bytes = 0
        self.completed_at = self._heard_at = self.started_at
        self.silent_at: float | None = None

    def received(self, data: bytes) -> int:
        """Process received bytes; return how many of them belong to this request."""
        if self.headers_finished:
            self._note_silence()
            consumed = int(super().received(data))
        elif self._is_discarding:
            consumed = self._discard(data)
        else:
            consumed = self._receive_head(data)
        self.received_bytes += consumed
        if self.completed:
            self.completed_at = time.monotonic()
        return consumed

    def _note_silence(self) -> None:
        now = time.monotonic()
        if self.silent_at is None and now - self._heard_at > SILENCE:
            self.silent_at = self._heard_at
        self._heard_at = now

    def _receive_head(self, data: bytes) -> int:
        # Empty lines before a request are allowed (RFC 9112, 2.2).
        rest = data if self.header_plus else data.lstrip(b"\r\n")
        if not rest:
            return len(data)
        end = rest.find(END_OF_HEAD)
        piece = rest[: MAX_HEAD if end < 0 else end + len(END_OF_HEAD)]  # waitress copies everything that it gets
        before = self.header_plus
        consumed = int(super().received(piece))
        if self.error is not None:
            self.path = path_of(before + piece)
        if isinstance(self.error, RequestHeaderFieldsTooLarge) and END_OF_HEAD not in before + piece:
            self.header_plus, self._tail, self._is_discarding, self.completed = b"", before[-3:], True, False
            consumed = self._discard(piece)
        return len(data) - len(rest) + consumed

    def _discard(self, data: bytes) -> int:
        self._discarded += len(data)
        seen = self._tail + data
        self._tail = seen[-len(END_OF_HEAD) + 1 :]
        self.completed = END_OF_HEAD in seen or self._discarded > DISCARDED_BYTES
        return len(data)

    def parse_header(self, header_plus: bytes) -> None:
        """Parse a complete head. Raises `ParsingError` if it is invalid, which waitress answers with 400."""
        self.head_at = time.monotonic()
        try:
            super().parse_header(normalize(header_plus))
        except LongLineError as error:
            self.error, self.completed = RequestHeaderFieldsTooLarge(str(error)), True
        except (MalformedHeadError, ValueError) as error:  # urlsplit raises ValueError for some targets
            raise ParsingError(str(error)) from None
