"""Detects the MIME type of a content from its first bytes, with libmagic."""

import codecs
import functools
import os
import re
import threading
from pathlib import Path
from typing import Any

from frepo_core.domain.mime_types import canonical_type

HEAD_BYTES = 8192
# A JSON object or array (RFC 8259) that is cut off anywhere, also within a token.
_CUT_JSON = re.compile(
    rb"""\s*+ [{\[] (?: [\s{}\[\],:] | "(?:[^"\\\x00-\x1f]++|\\.)*+" | -?\d[\d.eE+-]*+ | true | false | null )*+
    (?: "(?:[^"\\\x00-\x1f]++|\\.)*+ \\? | - | [a-z]{1,4} )?""",
    re.VERBOSE,
)
# libmagic takes up to a quarter of a second for a head of blanks, and milliseconds if neither runs nor what its regular
# expressions see are long. Zeros and 0xFF, of which binary formats have many, cost nothing.
_LONG_RUN = re.compile(rb"[\t-\r ]{256}|([^\x00\xff])\1{255}", re.DOTALL)
_REGEX_BYTES = 1024
_ENDS_OF_ROWS = (b";", b"),")
_BOMS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
# Characters that no text contains: control characters except bell, backspace, tab, line feed, form feed, carriage
# return and escape.
_CONTROLS = re.compile(r"[\x00-\x06\x0b\x0e-\x1a\x1c-\x1f\x7f]")
# Markup, and formats that may consist of text characters only: PDF, OpenPGP, ar and Debian packages.
_RECOGNIZED = ("<", "%PDF-", "-----BEGIN PGP ", "!<arch>\n")


def detect_type(head: bytes) -> str:
    """Return the type of a content. `head` is its first 8,192 bytes, or all of a shorter content.

    A text that does not begin with `<` is `text/plain`, `text/csv` or `application/json`. libmagic's other rules for
    texts are not used: they depend on single words in the text and take 100 times as long.
    """
    text = _decode(head)
    if text is None or text.startswith(_RECOGNIZED):
        return _recognize(head, is_markup=head.lstrip().startswith(b"<") if text is None else text.startswith("<"))
    mime = canonical_type(_detectors().detect_type(head, is_text=True))
    if mime not in {"text/csv", "application/json"}:
        is_json = len(head) >= HEAD_BYTES and _CUT_JSON.fullmatch(head)
        return "application/json" if is_json else "text/plain"  # libmagic detects only JSON that is complete
    if mime == "text/csv" and all(line.endswith(_ENDS_OF_ROWS) for line in head.splitlines()[:-1]):
        return "text/plain"  # rows of SQL: libmagic takes lines with equal numbers of commas for CSV
    return mime


def _decode(head: bytes) -> str | None:
    """Return the head as text without BOM and leading blanks, or None if it is not UTF-8, or UTF-16 with a BOM."""
    decoder = codecs.getincrementaldecoder(_BOMS.get(head[:2], "utf-8-sig"))()
    try:
        text = decoder.decode(head, final=len(head) < HEAD_BYTES)  # the head may end within a character
    except UnicodeDecodeError:
        return None
    return None if _CONTROLS.search(text) else text.lstrip()


def _recognize(head: bytes, *, is_markup: bool) -> str:
    """Return the type by all of libmagic's rules; texts in other encodings get the same types as those in UTF-8.

    What follows a long run of one byte, or of blanks, is not looked at.
    """
    run = _LONG_RUN.search(head)
    mime = canonical_type(_detectors().detect_type(head[: run.end()] if run else head, is_text=False))
    is_text = mime.startswith(("text/", "message/")) and mime != "text/csv"
    return "text/plain" if is_text and not is_markup else mime


class _Detectors:
    """A pool of libmagic instances, one for each processor, as an instance serves one thread at a time.

    Comparing with all rules takes milliseconds. The instances share the memory pages of the 7 MB database.
    """

    def __init__(self) -> None:
        # Imported here because few commands detect types. pylibmagic must be imported first: it contains
        # libmagic and its database, which another version of libmagic on the system cannot read.
        import pylibmagic
        from magic import MAGIC_NO_CHECK_SOFT, MAGIC_PARAM_REGEX_MAX, Magic, magic_setflags

        self._new, self._set_flags, self._no_soft_rules = Magic, magic_setflags, MAGIC_NO_CHECK_SOFT
        self._regex_max = MAGIC_PARAM_REGEX_MAX
        # pylibmagic names its database in the environment, which may be another one when the next instance is made.
        self._database = str(Path(pylibmagic.__file__).with_name("magic.mgc"))
        self._slots = threading.BoundedSemaphore(os.cpu_count() or 1)
        self._idle: list[Any] = []

    def detect_type(self, head: bytes, *, is_text: bool) -> str:
        """Return libmagic's type. With `is_text`, its "soft" rules, those of the database, are not used."""
        with self._slots:
            try:
                detector = self._idle.pop()
            except IndexError:
                detector = self._make()
            self._set_flags(detector.cookie, detector.flags | (self._no_soft_rules if is_text else 0))
            mime = str(detector.from_buffer(head))
            self._idle.append(detector)
            return mime

    def _make(self) -> Any:
        detector = self._new(mime=True, magic_file=self._database)
        detector.setparam(self._regex_max, _REGEX_BYTES)
        return detector


@functools.cache
def _detectors() -> _Detectors:
    return _Detectors()
