"""Checks an encrypted message of OpenPGP, as gpg writes it: the lengths of its packets (RFC 9580, 4.2 and 6.2)."""

import re

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import NotCheckable
from ..format import Format, Reader, read_all_but

_ARMOR, _ARMOR_END = b"-----BEGIN PGP MESSAGE-----", b"-----END PGP MESSAGE-----"
_TAIL = 1024
# How the body of the first packet begins: for a public key, or for a passphrase.
_PUBLIC_KEY, _PASSPHRASE = 1, 3
_BODIES = {
    _PUBLIC_KEY: re.compile(rb"\x03.{8}[\x01\x02\x10\x12\x19]|\x06", re.DOTALL),
    _PASSPHRASE: re.compile(rb"\x04[\x01-\x0d][\x00\x01\x03]|[\x05\x06]"),
}
_ENCRYPTED = {9, 18, 20}
_FOLLOWING = {_PUBLIC_KEY, _PASSPHRASE, *_ENCRYPTED}
_INDETERMINATE = 3


def recognize(head: bytes) -> bool:
    """Whether a message for a key or a passphrase begins: its first packet, and the next one's tag."""
    if head.startswith(_ARMOR):
        return True
    if len(head) < 8 or not head[0] & 0x80:
        return False
    if head[0] & 0x40:
        body, size = (2, head[1]) if head[1] < 192 else (3, ((head[1] - 192) << 8) + head[2] + 192)
    else:
        body = {0: 2, 1: 3}.get(head[0] & 3, 0)
        size = int.from_bytes(head[1:body], "big")
    pattern, following = _BODIES.get(_tag(head[0])), head[body + size : body + size + 1]
    is_followed = not following or (following[0] & 0x80 > 0 and _tag(following[0]) in _FOLLOWING)
    return body > 0 and pattern is not None and pattern.match(head, body) is not None and is_followed


def _tag(first: int) -> int:
    return first & 0x3F if first & 0x40 else first >> 2 & 0xF


def check(source: ByteStream, budget: Budget) -> str:
    """Read all packets. The last one has to be encrypted data, and to end where the content ends."""
    reader = Reader(source, budget, "openpgp", "the encrypted message")
    if source.peek(len(_ARMOR)) == _ARMOR:
        tail = read_all_but(source, budget, _TAIL, lambda data: None)
        if not tail.rstrip().endswith(_ARMOR_END):
            raise reader.broken(f"it does not end with the line {_ARMOR_END.decode()}")
        return "The encrypted message has its last line"
    tag = 0
    while not reader.is_at_end():
        tag = _skip_packet(reader)
    if tag not in _ENCRYPTED:
        raise reader.broken("the packet with the encrypted data is missing")
    return "The encrypted message has all its packets"


def _skip_packet(reader: Reader) -> int:
    """Read over one packet; return its tag."""
    first = reader.take(1, "a packet")[0]
    if not first & 0x80:
        raise reader.broken(f"no packet begins at byte {reader.offset - 1}")
    if first & 0x40:
        while _skip_part(reader):
            pass
        return _tag(first)
    if first & 3 == _INDETERMINATE:
        raise NotCheckable("a packet of the encrypted message has no length")
    reader.skip(int.from_bytes(reader.take(1 << (first & 3), "a length"), "big"), "a packet")
    return _tag(first)


def _skip_part(reader: Reader) -> bool:
    """Read over a part of a packet. Return whether another one follows."""
    length = reader.take(1, "a length")[0]
    if 224 <= length < 255:
        reader.skip(1 << (length & 0x1F), "a packet")
        return True
    if length == 255:
        length = int.from_bytes(reader.take(4, "a length"), "big")
    elif length >= 192:
        length = ((length - 192) << 8) + reader.take(1, "a length")[0] + 192
    reader.skip(length, "a packet")
    return False


FORMAT = Format(
    kind="openpgp",
    label="openpgp",
    suffixes=(".gpg", ".pgp"),
    recognizes=recognize,
    check=check,
    covers="container",
)
