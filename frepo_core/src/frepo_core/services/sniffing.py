"""Tells the type of content from the content itself, with libmagic."""

import functools
import threading

import pylibmagic  # noqa: F401  # brings libmagic, and shows `magic` where it is; so it comes first

# isort: split
import magic

from frepo_core.domain.types import common_name

HEAD_BYTES = 8192


def sniff(head: bytes) -> str:
    """Return the type of content that starts with `head`, its first 8,192 bytes or all of it."""
    return common_name(_sniffer().magic.from_buffer(head))


class _Sniffer(threading.local):
    """libmagic for each thread: texts take it milliseconds, and calls of one instance lock each other out.

    The database is mapped, and shared by all.
    """

    def __init__(self) -> None:
        self.magic = magic.Magic(mime=True)


@functools.cache
def _sniffer() -> _Sniffer:
    return _Sniffer()
