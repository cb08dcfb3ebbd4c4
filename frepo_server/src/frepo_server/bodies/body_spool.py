"""Buffers request bodies. A full disk must not end the thread that reads all connections."""

from io import BytesIO
from typing import Any, NoReturn

from ..application import BodySink, Buffer, ServerHooks
from .body_feed import BodyFeed


class BodySpool:
    """A buffer that raises errors of writing when the body is read. `buffer` is the application's.

    The thread that receives bodies cannot answer requests. After an error, it gives the room on the disk back at once,
    and discards the rest of the body.

    After `feed_to`, all bytes go to the feed, and it deletes the buffer.
    """

    _feed: BodyFeed | None = None

    def __init__(self, buffer: Buffer, hooks: ServerHooks | None) -> None:
        self.buffer = buffer
        self._length = 0
        self._hooks = hooks
        self._error: OSError | None = None

    def append(self, data: bytes) -> None:
        """Append bytes, unless writing has failed before."""
        if self._feed is not None:
            self._feed.append(data)
        elif self._error is None:
            try:
                self.buffer.append(data)
            except OSError as error:
                self._error, self._length = error, len(self)
                self.buffer.close()

    def feed_to(self, sink: BodySink) -> BodyFeed:
        """Return a feed to the sink, for what has arrived and what follows."""
        self._feed = BodyFeed(sink, self.getfile(), len(self), self.buffer.close)
        return self._feed

    @property
    def has_failed(self) -> bool:
        """Whether the body could not be written."""
        return self._error is not None

    def getfile(self) -> Any:
        """Return the body as a file, or a `FailedBody`. With a feed, the file is empty."""
        if self._feed is not None:
            return BytesIO()
        if self._error is None:
            return self.buffer.getfile()
        return FailedBody(self._hooks.body_lost(self._error) if self._hooks else self._error)

    def close(self) -> None:
        """Delete the body, unless the feed has to hand it over."""
        if self._feed is None:
            self.buffer.close()

    def __len__(self) -> int:
        if self._feed is not None:
            return self._feed.length
        return self._length if self.has_failed else self.buffer.__len__()


class FailedBody:
    """A body that could not be written. Reading it raises the error."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, size: int = -1) -> NoReturn:
        """Raise the error."""
        raise self._error

    readline = readinto = read

    def close(self) -> None:
        """Do nothing: no file is open."""
