"""Looks into encrypted files that are written as text, with lines for their start and end (RFC 9580, 6.2)."""

import base64
import binascii
from collections.abc import Callable
from contextlib import suppress

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent, EmptyContent, LittleContent, NotCheckable
from ..format import Reader, read_all_but

# What is longer than this, in bytes, is not the encryption of nothing, however many may read it.
_SMALL = 16 << 10
_TAIL = 1024


def check_armor(
    source: ByteStream,
    budget: Budget,
    reader: Reader,
    end: bytes,
    check: Callable[[ByteStream, Budget], str],
    said: str,
) -> str:
    """Look for the last line, and return `said`. `check` is that of the bytes: it finds out whether a small file holds
    nothing, or next to nothing.
    """
    text = source.peek(_SMALL)
    tail = read_all_but(source, budget, _TAIL, lambda data: None)
    if not tail.rstrip().endswith(end):
        raise reader.broken(f"it does not end with the line {end.decode()}")
    if source.offset > len(text):
        return said
    with suppress(NotCheckable, binascii.Error):
        try:
            check(ByteStream(iter([_decode(text)])), budget)
        except EmptyContent:
            raise
        except LittleContent as little:
            raise LittleContent(little.kind, said) from little
        except BrokenContent:
            pass  # programs add lines of their own, so nothing else is concluded from them
    return said


def _decode(text: bytes) -> bytes:
    """Return the bytes of the lines between the first and the last one, without headers and checksum."""
    lines = [line.strip() for line in text.strip().splitlines()]
    begin = lines.index(b"") + 1 if b"" in lines else 1
    return base64.b64decode(b"".join(line for line in lines[begin:-1] if not line.startswith(b"=")))
