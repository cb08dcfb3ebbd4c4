"""Reads text in UTF-16, or with a mark of its encoding, as UTF-8 without one: PowerShell's `>` writes UTF-16."""

import codecs
import re
from collections.abc import Iterator

from .budget import Budget
from .byte_stream import ByteStream

# By the mark at the start. That of UTF-32 begins with that of UTF-16.
_ENCODINGS = {
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    codecs.BOM_UTF8: "utf-8",
}
# Each second byte of the first letters is zero.
_WITHOUT_MARK = {
    "utf-16-le": re.compile(rb"(?:[\t\n\r -~]\0){32}"),
    "utf-16-be": re.compile(rb"(?:\0[\t\n\r -~]){32}"),
}
_PIECE = 64 << 10


def find_encoding(head: bytes) -> str | None:
    """Return the encoding of a content with these first bytes; None if it has no mark and does not look like UTF-16."""
    found = next((name for mark, name in _ENCODINGS.items() if head.startswith(mark)), None)
    return found or next((name for name, looks_so in _WITHOUT_MARK.items() if looks_so.match(head)), None)


def decode(source: ByteStream, encoding: str, budget: Budget) -> ByteStream:
    """Return the content as UTF-8, without its mark. What is no text becomes U+FFFD."""
    return ByteStream(_decoded(source, encoding, budget))


def _decoded(source: ByteStream, encoding: str, budget: Budget) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    mark = next(mark for mark, name in _ENCODINGS.items() if name == encoding)
    source.skip(len(mark) if source.peek(len(mark)) == mark else 0)
    while data := source.take(_PIECE):
        budget.spend()
        if text := decoder.decode(data):
            yield text.encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
