"""Tells the type of content from the content itself, with libmagic."""

import functools
import os
import re
import threading
from typing import Any

from frepo_core.domain.types import common_name

HEAD_BYTES = 8192
# An object or array of JSON (RFC 8259) that is cut off anywhere; what comes last may be half a token.
_CUT_JSON = re.compile(
    rb"""\s*+ [{\[] (?: [\s{}\[\],:] | "(?:[^"\\\x00-\x1f]|\\.)*+" | -?\d[\d.eE+-]*+ | true | false | null )*+
    (?: "(?:[^"\\\x00-\x1f]|\\.)*+ \\? | - | [a-z]{1,4} )?""",
    re.VERBOSE,
)
_STARTS_OF_SQL = (b"--", b"/*M!")  # comments; the latter is MariaDB's own
_ENDS_OF_SQL = (b";", b"),")


def sniff(head: bytes) -> str:
    """Return the type of content that starts with `head`, its first 8,192 bytes or all of it."""
    mime = common_name(_sniffers().sniff(head))
    if mime == "text/plain" and len(head) >= HEAD_BYTES and _CUT_JSON.fullmatch(head):
        return "application/json"  # libmagic knows JSON only when it sees its end
    if mime.startswith("text/") and head.lstrip().startswith(_STARTS_OF_SQL):
        return "text/plain"  # a dump of SQL, whatever programs and pages are in its rows
    if mime == "text/csv" and all(line.endswith(_ENDS_OF_SQL) for line in head.splitlines()[:-1]):
        return "text/plain"  # libmagic takes lines for a table that have as many commas
    return mime


class _Sniffers:
    """libmagic, as often as there are processors: its calls of one instance lock each other out.

    A text takes it milliseconds. Each maps the database of 7 MB, of which all have the same pages.
    """

    def __init__(self) -> None:
        # Imported here, as few commands of the console look at a type. The first brings libmagic, and shows the second
        # where it is.
        import pylibmagic  # noqa: F401
        from magic import Magic

        self._make = Magic
        self._room = threading.BoundedSemaphore(os.cpu_count() or 1)
        self._idle: list[Any] = []

    def sniff(self, head: bytes) -> str:
        with self._room:
            try:
                sniffer = self._idle.pop()
            except IndexError:
                sniffer = self._make(mime=True)
            mime = str(sniffer.from_buffer(head))
            self._idle.append(sniffer)
            return mime


@functools.cache
def _sniffers() -> _Sniffers:
    return _Sniffers()
