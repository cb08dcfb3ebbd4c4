"""Checks an encrypted message of OpenPGP, as gpg writes it: the lengths of its packets (RFC 9580, 4.2 and 6.2)."""

import re

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import EmptyContent, LittleContent, NotCheckable
from ..format import Format, Reader
from .armor import check_armor

_ARMOR, _ARMOR_END = b"-----BEGIN PGP MESSAGE-----", b"-----END PGP MESSAGE-----"
_PUBLIC_KEY, _PASSPHRASE = 1, 3
_ENCRYPTED = {9, 18, 20}
# The bodies, in bytes, of the packets that gpg makes of an empty input: without a check, with one, and authenticated.
# It compresses by ZIP, or by ZLIB if the key asks for it. What is not larger holds ten bytes at most.
_OF_NOTHING = {9: 36, 18: 59, 20: 69}
# How much larger they are with the name of an empty file, or of what gzip and others make of nothing.
_MORE_OF_NOTHING = 44
# How a passphrase becomes a key: with a hash function, or with Argon2 (RFC 9580, 3.7).
_TO_KEY = rb"(?:[\x00\x01\x03][\x01-\x03\x08-\x0e]|\x04)"
# How many numbers a session key has in a packet of version 3, by the algorithm: RSA, Elgamal, ECDH, X25519.
_NUMBERS = {1: 1, 2: 1, 16: 2, 18: 1, 25: 0}
_ECDH, _X25519 = 18, 25
_ALGORITHM = b"[%b]" % bytes(_NUMBERS)
# How the bodies of packets begin, by their tags: with a version, and what belongs to it (RFC 9580, 5.1, 5.3, 5.13).
_BODIES = {
    _PUBLIC_KEY: rb"\x03.{8}%b|\x06(?:\x00|\x15\x04.{20}|\x21\x06.{32})%b" % (_ALGORITHM, _ALGORITHM),
    _PASSPHRASE: rb"\x04[\x01-\x0d]%b|\x05[\x01-\x0d][\x01-\x03]%b|\x06.[\x01-\x0d][\x01-\x03].%b" % ((_TO_KEY,) * 3),
    9: rb"",
    18: rb"[\x01\x02]",
    20: rb"\x01",
}
_PATTERNS = {tag: re.compile(body, re.DOTALL) for tag, body in _BODIES.items()}
# A packet with a session key is shorter, also for the longest keys: RSA with 16,384 bits.
_LONGEST_KEY = 2100
# What is left of a message that was cut in the head of its second packet.
_HEADER = 8
_INDETERMINATE = 3


def recognize(head: bytes) -> bool:
    """Whether a message for a key or a passphrase begins: its first packet, and the start of the next one.

    One of 27,000 contents of random bytes began with what looks like a first packet only.
    """
    if head.startswith(_ARMOR):
        return True
    tag, body, size = _header(head)
    if tag not in {_PUBLIC_KEY, _PASSPHRASE} or not 0 < size <= _LONGEST_KEY:
        return False
    key, rest = head[body : body + size], head[body + size :]
    if not _PATTERNS[tag].match(key):
        return False
    if not rest:
        return True  # cut in the first packet
    if key[0] == 3 and not _is_filled(key):  # its version
        return False
    tag, body, _ = _header(rest)
    return tag in _PATTERNS and (len(rest) < _HEADER or _PATTERNS[tag].match(rest, body) is not None)


def _is_filled(key: bytes) -> bool:
    """Whether a session key for a public key, version 3, is as long as its packet: each number names its bits."""
    algorithm = key[9]
    position = 10 + (32 if algorithm == _X25519 else 0)
    for _ in range(_NUMBERS[algorithm]):
        position += 2 + (int.from_bytes(key[position : position + 2], "big") + 7) // 8
    if algorithm in {_ECDH, _X25519}:
        position += 1 + int.from_bytes(key[position : position + 1], "big")
    return position == len(key)


def _header(head: bytes) -> tuple[int, int, int]:
    """Return the tag of a packet, where its body begins, and how long that is.

    The tag is 0 if no packet begins here, the length is 0 if the header does not say it: the body comes in parts.
    """
    if not head or not head[0] & 0x80:
        return 0, 0, 0
    tag, length = _tag(head[0]), int.from_bytes(head[1:2], "big")
    if not head[0] & 0x40:
        octets = 0 if head[0] & 3 == _INDETERMINATE else 1 << (head[0] & 3)
        return tag, 1 + octets, int.from_bytes(head[1 : 1 + octets], "big")
    if length < 192:
        return tag, 2, length
    if length < 224:
        return tag, 3, ((length - 192) << 8) + int.from_bytes(head[2:3], "big") + 192
    if length == 255:
        return tag, 6, int.from_bytes(head[2:6], "big")
    return tag, 2, 0


def _tag(first: int) -> int:
    return first & 0x3F if first & 0x40 else first >> 2 & 0xF


def check(source: ByteStream, budget: Budget) -> str:
    """Read all packets. The last one has to be encrypted data, and to end where the content ends."""
    reader = Reader(source, budget, "openpgp", "the encrypted message")
    if source.peek(len(_ARMOR)) == _ARMOR:
        return check_armor(source, budget, reader, _ARMOR_END, check, "The encrypted message has its last line")
    tag = size = 0
    while not reader.is_at_end():
        tag, size = _skip_packet(reader)
    if tag not in _ENCRYPTED:
        raise reader.broken("the packet with the encrypted data is missing")
    said, of_nothing = "The encrypted message has all its packets", _OF_NOTHING.get(tag, 0)
    if size <= of_nothing:
        raise EmptyContent("openpgp", "There is nothing in the encrypted file")
    if size <= of_nothing + _MORE_OF_NOTHING:
        raise LittleContent("openpgp", said)
    return said


def _skip_packet(reader: Reader) -> tuple[int, int]:
    """Read over one packet; return its tag and the bytes of its body."""
    first = reader.take(1, "a packet")[0]
    if not first & 0x80:
        raise reader.broken(f"no packet begins at byte {reader.offset - 1}")
    if first & 0x40:
        start = reader.offset
        while _skip_part(reader):
            pass
        return _tag(first), reader.offset - start - 1
    if first & 3 == _INDETERMINATE:
        raise NotCheckable("a packet of the encrypted message has no length")
    size = int.from_bytes(reader.take(1 << (first & 3), "a length"), "big")
    reader.skip(size, "a packet")
    return _tag(first), size


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
