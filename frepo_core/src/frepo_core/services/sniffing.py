"""Tells the type of content from the content itself, with libmagic."""

import functools
import re
import threading

import pylibmagic  # noqa: F401  # brings libmagic, and shows `magic` where it is; so it comes first

# isort: split
import magic

from frepo_core.domain.types import common_name

HEAD_BYTES = 8192
# An object or array of JSON (RFC 8259) that is cut off anywhere; what comes last may be half a token.
_CUT_JSON = re.compile(
    rb"""\s*+ [{\[] (?: [\s{}\[\],:] | "(?:[^"\\\x00-\x1f]|\\.)*+" | -?\d[\d.eE+-]*+ | true | false | null )*+
    (?: "(?:[^"\\\x00-\x1f]|\\.)*+ \\? | - | [a-z]{1,4} )?""",
    re.VERBOSE,
)
_ENDS_OF_SQL = (b";", b"),")


def sniff(head: bytes) -> str:
    """Return the type of content that starts with `head`, its first 8,192 bytes or all of it."""
    mime = common_name(_sniffer().magic.from_buffer(head))
    if mime == "text/plain" and len(head) >= HEAD_BYTES and _CUT_JSON.fullmatch(head):
        return "application/json"  # libmagic knows JSON only when it sees its end
    if mime == "text/csv" and all(line.endswith(_ENDS_OF_SQL) for line in head.splitlines()[:-1]):
        return "text/plain"  # libmagic takes lines for a table that have as many commas
    return mime


class _Sniffer(threading.local):
    """libmagic for each thread: texts take it milliseconds, and calls of one instance lock each other out.

    The database is mapped, and shared by all.
    """

    def __init__(self) -> None:
        self.magic = magic.Magic(mime=True)


@functools.cache
def _sniffer() -> _Sniffer:
    return _Sniffer()
