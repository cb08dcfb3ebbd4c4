"""Checks a file of age: its header, and the length of its last chunk (https://age-encryption.org/v1).

The chunks can be checked with the key only. A cut is seen if it is within the header, or within the first 17 bytes of a
chunk; in an armored file, which has a last line, always.
"""

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent, EmptyContent, LittleContent, NotCheckable
from ..format import LITTLE, Format, Reader
from .armor import check_armor

START = b"age-encryption.org/v1\n"
_ARMOR, _ARMOR_END = b"-----BEGIN AGE ENCRYPTED FILE-----", b"-----END AGE ENCRYPTED FILE-----"
_LAST_LINE = b"--- "
_MAX_HEADER = 1 << 20
_MAX_LINE = 4096
_NONCE, _TAG, _CHUNK = 16, 16, 64 << 10
_UNKNOWN = "It is encrypted with age; without the key only the length of its last chunk can be checked"


def check(source: ByteStream, budget: Budget) -> str:
    """Read the lines of the header, and count the bytes after them."""
    reader = Reader(source, budget, "age", "the encrypted file")
    if source.peek(len(_ARMOR)) == _ARMOR:
        return check_armor(source, budget, reader, _ARMOR_END, check, "The encrypted file has its last line")
    line = b""
    while not line.startswith(_LAST_LINE):
        line, ended, _ = source.peek(_MAX_LINE).partition(b"\n")
        if not ended or source.offset > _MAX_HEADER:
            raise reader.ends_within("its header")
        reader.skip(len(line) + 1, "its header")
    reader.skip(_NONCE, "its header")
    start = reader.offset
    source.drain()
    size = source.offset - start
    rest = size % (_CHUNK + _TAG)
    if size < _TAG or 0 < rest < _TAG or (rest == _TAG and size > _TAG):
        raise BrokenContent("age", f"The encrypted file is not whole: its last chunk has {rest} bytes")
    if size == _TAG:
        raise EmptyContent("age", "There is nothing in the encrypted file")
    if size <= _TAG + LITTLE:
        raise LittleContent("age", _UNKNOWN, "not checked")
    raise NotCheckable(_UNKNOWN)


FORMAT = Format(
    kind="age",
    label="age",
    suffixes=(".age",),
    recognizes=lambda head: head.startswith((START, _ARMOR)),
    check=check,
    covers="container",
)
