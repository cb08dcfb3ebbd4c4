"""Tells the type of content from the content itself, with libmagic."""

import codecs
import functools
import os
import re
import threading
from typing import Any

from frepo_core.domain.mime_types import common_name

HEAD_BYTES = 8192
# An object or array of JSON (RFC 8259) that is cut off anywhere; what comes last may be half a token.
_CUT_JSON = re.compile(
    rb"""\s*+ [{\[] (?: [\s{}\[\],:] | "(?:[^"\\\x00-\x1f]++|\\.)*+" | -?\d[\d.eE+-]*+ | true | false | null )*+
    (?: "(?:[^"\\\x00-\x1f]++|\\.)*+ \\? | - | [a-z]{1,4} )?""",
    re.VERBOSE,
)
_ENDS_OF_ROWS = (b";", b"),")
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# What texts never hold: control characters but bell, backspace, tab, line feed, form feed, carriage return, escape.
_CONTROLS = re.compile(r"[\x00-\x06\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# Markup, which has a type of its own, and formats whose bytes may all be those of a text: PDF, OpenPGP, ar and Debian.
_RECOGNIZED = ("<", "%PDF-", "-----BEGIN PGP ", "!<arch>\n")


def detect_type(head: bytes) -> str:
    """Return the type of content that starts with `head`, its first 8,192 bytes or all of it.

    A text is `text/plain`, `text/csv` or `application/json`, unless it begins with `<`: what libmagic makes of other
    texts changes with what is in them, and takes it 100 times as long.
    """
    text = _decode(head)
    if text is None or text.startswith(_RECOGNIZED):
        return _recognize(head, is_markup=head.lstrip().startswith(b"<") if text is None else text.startswith("<"))
    mime = common_name(_sniffers().detect_type(head, is_text=True))
    if mime not in {"text/csv", "application/json"}:
        is_json = len(head) >= HEAD_BYTES and _CUT_JSON.fullmatch(head)
        return "application/json" if is_json else "text/plain"  # libmagic knows JSON only when it sees its end
    if mime == "text/csv" and all(line.endswith(_ENDS_OF_ROWS) for line in head.splitlines()[:-1]):
        return "text/plain"  # rows of SQL: libmagic takes lines for a table that have as many commas
    return mime


def _decode(head: bytes) -> str | None:
    """Return the head as text, without BOM and blanks before it; None if it is neither UTF-8 nor UTF-16 with a BOM."""
    decoder = codecs.getincrementaldecoder(_BOMS.get(head[:2], "utf-8-sig"))()
    try:
        text = decoder.decode(head, final=len(head) < HEAD_BYTES)  # a character may be cut at the end of the head
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text.lstrip()


def _recognize(head: bytes, *, is_markup: bool) -> str:
    """Return the type that all of libmagic's rules find; texts in other encodings are treated as those in UTF-8."""
    mime = common_name(_sniffers().detect_type(head, is_text=False))
    is_text = mime.startswith(("text/", "message/")) and mime != "text/csv"
    return "text/plain" if is_text and not is_markup else mime


class _Detectors:
    """libmagic, as often as there are processors: its calls of one instance lock each other out.

    Comparing with all rules takes milliseconds. Each maps the database of 7 MB; they share its pages.
    """

    def __init__(self) -> None:
        # Imported here, as few commands of the console look at a type. pylibmagic has to be the first: it brings libmagic
        # and its database. A system's libmagic of another version cannot read that database.
        import pylibmagic  # noqa: F401
        from magic import MAGIC_NO_CHECK_SOFT, Magic, magic_setflags

        self._make, self._set_flags, self._no_soft_rules = Magic, magic_setflags, MAGIC_NO_CHECK_SOFT
        self._room = threading.BoundedSemaphore(os.cpu_count() or 1)
        self._idle: list[Any] = []

    def detect_type(self, head: bytes, *, is_text: bool) -> str:
        """Ask libmagic; for a text without its "soft" rules, those of the database."""
        with self._room:
            try:
                sniffer = self._idle.pop()
            except IndexError:
                sniffer = self._make(mime=True)
            self._set_flags(sniffer.cookie, sniffer.flags | (self._no_soft_rules if is_text else 0))
            mime = str(sniffer.from_buffer(head))
            self._idle.append(sniffer)
            return mime


@functools.cache
def _sniffers() -> _Detectors:
    return _Detectors()
