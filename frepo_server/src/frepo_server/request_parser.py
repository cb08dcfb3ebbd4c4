"""Parses requests with waitress, after checking the head, and counts the received bytes."""

import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from waitress.parser import HTTPRequestParser, ParsingError
from waitress.utilities import RequestHeaderFieldsTooLarge

from .bodies.body_feed import BodyFeed
from .request_head import LongLineError, MalformedHeadError, normalize, path_of

# After so many seconds without a byte of a body, its client may have given it up and begun again.
SILENCE = 10.0
END_OF_HEAD = b"\r\n\r\n"
DISCARDED_BYTES = 8 << 20


class RequestParser(HTTPRequestParser):  # type: ignore[misc]  # waitress has no types
    """A request that is being received. If its head is too large, the rest of the head is read and discarded.

    Closing the connection while the client still sends would reset it, and the client might not get the answer.
    """

    body_rcv: Any
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
        self._head = bytearray()
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
        rest = data if self._head else data.lstrip(b"\r\n")
        if not rest:
            return len(data)
        seen = self._tail + rest
        end = seen.find(END_OF_HEAD)
        taken = rest if end < 0 else rest[: end + len(END_OF_HEAD) - len(self._tail)]
        taken, self._tail = taken[: self.adj.max_request_header_size], seen[1 - len(END_OF_HEAD) :]
        self._head += taken
        if end >= 0 or len(self._head) >= self.adj.max_request_header_size:
            self._parse(bytes(self._head), is_complete=END_OF_HEAD == self._head[-len(END_OF_HEAD) :])
            self._head.clear()
        return len(data) - len(rest) + len(taken)

    def _parse(self, head: bytes, *, is_complete: bool) -> None:
        """Let waitress parse a head. With each piece of it, waitress would copy and search all that has arrived."""
        super().received(head)
        if self.error is not None:
            self.path = path_of(head)
        if not is_complete:
            self._tail, self._is_discarding, self.completed = b"", True, False
            self._discard(head)

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
