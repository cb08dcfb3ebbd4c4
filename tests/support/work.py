"""Counts what code does for the bytes that it gets. A count is the same on each machine; a time is not."""

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

# These look at their own start or end, or at one element.
_BRIEF = frozenset({"startswith", "endswith", "append", "extend", "join", "__getitem__", "__len__", "isascii"})
# A library that looks for the next delimiter from where it is. How far it looks is not seen here.
_SEARCHING = frozenset({"multipart"})
_TEXTS = (bytes, bytearray, str)


class Work(NamedTuple):
    """How many functions were called, and how many bytes and characters were looked through by methods of texts."""

    calls: int
    scanned: int


def count_work(act: Callable[[], Any], *, refused: tuple[type[Exception], ...] = ()) -> Work:
    """Do it, and return the work of this thread. Errors of the kinds `refused` are an end like others."""
    calls = scanned = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls, scanned
        calls += event in {"call", "c_call"}
        if event != "c_call" or argument.__name__ in _BRIEF or frame.f_globals.get("__name__") in _SEARCHING:
            return
        if isinstance(owner := argument.__self__, _TEXTS):
            scanned += len(owner)

    sys.setprofile(note)
    try:
        act()
    except refused:
        pass
    finally:
        sys.setprofile(None)
    return Work(calls, scanned)
