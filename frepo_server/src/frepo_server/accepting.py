"""Accepts connections: all that wait, and none while the process may open no more files."""

import errno
import functools
import logging
import time
from typing import Any

from waitress.server import BaseWSGIServer

from .periodic_warning import PeriodicWarning

# The process or the system has no descriptor or no memory left for a connection (accept(2)).
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
PAUSE_SECONDS = 1.0
WARNING = (
    "no connection can be accepted: %(about)s. They wait until others end; raise the limit of open files (LimitNOFILE, "
    "`ulimit -n`), or lower connection_limit. Since the last such line that happened %(count)d times"
)


def accept_well(listener: BaseWSGIServer) -> None:
    """Replace how a listener of waitress accepts connections."""
    accepting = _Accepting(listener)
    listener.accept, listener.readable = accepting.accept, accepting.is_ready
    listener.handle_accept = functools.partial(accept_pending, listener)


def accept_pending(listener: BaseWSGIServer) -> None:
    """Accept the connections that the kernel has established, at most `connection_limit`.

    waitress accepts one, then reads from all that have sent something. A request behind a hundred uploads that begin at
    once would wait until megabytes of each have been read.
    """
    before = -1
    while len(listener._map) > before and listener.readable():
        before = len(listener._map)
        type(listener).handle_accept(listener)


class _Accepting:
    """Pauses when the process has no descriptor left. waitress tries again at once, and logs a traceback each time."""

    def __init__(self, listener: BaseWSGIServer) -> None:
        self._listener = listener
        self._resume_at = 0.0
        self._warning = PeriodicWarning(logging.getLogger(__name__), WARNING)

    def accept(self) -> Any:
        """Return a connection and its address, None if there is none now."""
        try:
            return type(self._listener).accept(self._listener)
        except OSError as error:
            if error.errno not in EXHAUSTED:
                raise
            self._resume_at = time.monotonic() + PAUSE_SECONDS
            self._warning.note(error.strerror)
            return None

    def is_ready(self) -> bool:
        """Return whether to look for connections."""
        return time.monotonic() >= self._resume_at and bool(type(self._listener).readable(self._listener))
