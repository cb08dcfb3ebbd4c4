"""Reads text that begins with a mark of its encoding as UTF-8 without one: PowerShell's `>` writes UTF-16."""

import codecs
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
_PIECE = 64 << 10


def find_encoding(head: bytes) -> str | None:
    """Return the encoding of a content with these first bytes; None if they are no mark of one."""
    return next((name for mark, name in _ENCODINGS.items() if head.startswith(mark)), None)


def decode(source: ByteStream, encoding: str, budget: Budget) -> ByteStream:
    """Return the content as UTF-8, without its mark. What is no text becomes U+FFFD."""
    return ByteStream(_decoded(source, encoding, budget))


def _decoded(source: ByteStream, encoding: str, budget: Budget) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    source.skip(next(len(mark) for mark, name in _ENCODINGS.items() if name == encoding))
    while data := source.take(_PIECE):
        budget.spend()
        if text := decoder.decode(data):
            yield text.encode("utf-8", "replace")
    yield decoder.decode(b"", final=True).encode("utf-8", "replace")
