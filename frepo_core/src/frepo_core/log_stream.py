"""Writes the log so that nobody waits for its reader, and nothing fails because it cannot be written."""

import io
import logging
import os
import select
import sys
import threading
from typing import TextIO

# What a pipe takes at once if it is ready (POSIX, PIPE_BUF).
PIECE = 4096
# How long a line waits for the reader, in seconds. The lines after one that waited in vain do not.
WAIT_SECONDS = 0.1
LOST = "%d lines of the log are lost here: they could not be written, or nothing read them\n"


class GuardedStream(io.TextIOBase):
    """A stream in the place of standard output or error. What cannot be written now is lost, and counted."""

    def __init__(self, own: TextIO) -> None:
        self._own, self._descriptor = own, own.fileno()
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLOUT)
        self._lock = threading.Lock()
        self._lost = 0

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return self._own.encoding

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether a person reads it."""
        return self._own.isatty()

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Write a text, or lose it. Say afterwards how many lines are lost."""
        with self._lock:
            if self._lost and self._try(LOST % self._lost):
                self._lost = 0
            if self._lost or not self._try(text):
                self._lost += max(text.count("\n"), 1)
        return len(text)

    def _try(self, text: str) -> bool:
        data = text.encode(self.encoding, "backslashreplace")
        try:
            while data:
                if not self._poll.poll(0 if self._lost else WAIT_SECONDS * 1000):
                    return False
                data = data[os.write(self._descriptor, data[:PIECE]) :]
        except OSError:
            return False
        return True


def guard_output() -> None:
    """Guard standard output and error of this process, and the handlers of the log that write to them."""
    _open_closed()
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is not None and stream is getattr(sys, f"__{name}__"):  # nobody has replaced it
            guarded = guard(stream)
            setattr(sys, name, guarded)
            for handler in _stream_handlers():
                if handler.stream is stream:
                    handler.stream = guarded


def guard(stream: TextIO) -> TextIO:
    """Return a guarded stream in the place of one; the same if it is no file."""
    try:
        stream.flush()
    except OSError:
        pass
    except ValueError:  # it is closed
        return stream
    try:
        return GuardedStream(stream)  # type: ignore[return-value]  # a TextIO has more that nobody uses
    except (OSError, AttributeError):
        return stream


def _open_closed() -> None:
    """Open what was closed at the start: otherwise a file or a connection gets the number of standard error."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)


def _stream_handlers() -> list["logging.StreamHandler[TextIO]"]:
    handlers = [reference() for reference in logging._handlerList]  # type: ignore[attr-defined]
    return [each for each in handlers if type(each) is logging.StreamHandler]
