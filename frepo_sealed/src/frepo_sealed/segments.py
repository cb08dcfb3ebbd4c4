"""The format of a sealed object: a head, and segments, each encrypted by itself so that ranges can be read.

Head, 64 bytes: `frepo sealed 1`, a line end and a zero; the id of the key (8 bytes); salt (32); size (8, big endian).
Each segment has 256 KiB of the content, the last one has fewer or none, and 16 bytes of its tag: AES-256-GCM (NIST SP
800-38D) with the key of the object. Its nonce is its number from 0 in 11 bytes, then 1 for the last one, else 0; the
head is authenticated with it. So a segment that was changed, moved, cut off or repeated is found.
"""

import os
import struct
from dataclasses import dataclass
from typing import BinaryIO, Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from frepo_core.plugins import BlobDamaged, StorageUnavailable

from .keys import Key, KeyRing, is_sealed_name

MAGIC = b"frepo sealed 1\n\0"
_HEAD = struct.Struct(">16s8s32sQ")
HEAD = _HEAD.size
SEGMENT = 256 << 10
TAG = 16
SALT = 32
_STORED = SEGMENT + TAG


def sealed_size(size: int) -> int:
    """Return how many bytes an object has whose content has `size` bytes."""
    return HEAD + size + TAG * _count(size)


def content_size(sealed: int) -> int:
    """Return how many bytes the content of an object with `sealed` bytes has; 0 for one that is too short."""
    body = sealed - HEAD
    return max(0, body - TAG * max(1, -(-body // _STORED)))


def _count(size: int) -> int:
    return max(1, -(-size // SEGMENT))


@dataclass(frozen=True, kw_only=True)
class Head:
    """The head of an object, and what its segments are encrypted with."""

    data: bytes
    size: int
    cipher: AESGCM

    @classmethod
    def make(cls, key: Key, name: str, size: int) -> Self:
        """Make the head of a new object with a name below and a content of `size` bytes."""
        salt = os.urandom(SALT)
        return cls(data=_HEAD.pack(MAGIC, key.id, salt, size), size=size, cipher=key.cipher(salt, name))

    @classmethod
    def parse(cls, data: bytes, keys: KeyRing, name: str) -> Self:
        """Read the head of the object with a name below.

        Raises `BlobDamaged` if it has none, and `StorageUnavailable` for another key. One of these keys has made the
        name of a blob, and encrypts it, too.
        """
        if len(data) != HEAD or not data.startswith(MAGIC):
            raise BlobDamaged(f"The object {name} is not sealed: its head is damaged, or it is something else")
        _, key_id, salt, size = _HEAD.unpack(data)
        key = keys.find(key_id)
        if key is None and is_sealed_name(name):
            raise BlobDamaged(f"The head of the object {name} is damaged: the id of its key is wrong")
        if key is None:
            raise StorageUnavailable(
                f"The object {name} is sealed with the key {key_id.hex()}, which is not in key_file: add it there"
            )
        return cls(data=data, size=size, cipher=key.cipher(salt, name))

    def seal(self, number: int, content: bytes) -> bytes:
        """Encrypt a segment."""
        return self.cipher.encrypt(self._nonce(number), content, self.data)

    def open(self, number: int, segment: bytes) -> bytes:
        """Decrypt a segment. Raises `BlobDamaged` if it is not what was stored."""
        try:
            return self.cipher.decrypt(self._nonce(number), segment, self.data)
        except (InvalidTag, ValueError) as error:
            raise BlobDamaged(f"Segment {number} of a sealed object is damaged, or was exchanged") from error

    def _nonce(self, number: int) -> bytes:
        return number.to_bytes(11, "big") + bytes([number == self.last])

    @property
    def last(self) -> int:
        """The number of the last segment."""
        return _count(self.size) - 1

    def stored(self, number: int) -> int:
        """Return how many bytes a segment has in the object."""
        return min(SEGMENT, self.size - number * SEGMENT) + TAG

    def place(self, first: int, last: int) -> tuple[int, int]:
        """Return where the first of some segments begins in the object, and how many bytes they have together."""
        return HEAD + first * _STORED, (last - first) * _STORED + self.stored(last)


class Sealing:
    """Reads an object that is made of a content of `size` bytes: `read` encrypts it. No exception is caught."""

    def __init__(self, head: Head, content: BinaryIO) -> None:
        self._head, self._content = head, content
        self._number, self._left, self._buffer = 0, head.size, memoryview(head.data)

    def read(self, size: int = -1) -> bytes:
        """Return at most `size` bytes, none at the end. Raises `StorageUnavailable` for a content of another size."""
        if not self._buffer and self._number <= self._head.last:
            self._buffer = memoryview(self._head.seal(self._number, self._next()))
            self._number += 1
        if size < 0:
            size = len(self._buffer)
        piece, self._buffer = self._buffer[:size], self._buffer[size:]
        return bytes(piece)

    def _next(self) -> bytes:
        plain = read_up_to(self._content, min(SEGMENT, self._left))
        self._left -= len(plain)
        if self._number == self._head.last and (self._left or self._content.read(1)):
            found = f"only {self._head.size - self._left}" if self._left else "more"
            raise StorageUnavailable(f"The content has {found} bytes, but {self._head.size} were announced")
        return plain


class Opening:
    """Decrypts segments from `number` on, as they come from the storage below, without the first `skipped` bytes."""

    def __init__(self, head: Head, below: BinaryIO, number: int, *, skipped: int) -> None:
        self._head, self._below, self._number, self._skipped = head, below, number, skipped
        self._buffer = memoryview(b"")

    def read(self, wanted: int) -> bytes:
        """Return at least one and at most `wanted` bytes; none if the object ends."""
        if not self._buffer:
            # A byte after the last segment does not belong to the object: its tag is wrong then.
            is_last = self._number == self._head.last
            stored = read_up_to(self._below, self._head.stored(self._number) + is_last)
            self._buffer = memoryview(self._head.open(self._number, stored))[self._skipped :]
            self._number, self._skipped = self._number + 1, 0
        piece, self._buffer = self._buffer[:wanted], self._buffer[wanted:]
        return bytes(piece)


def read_up_to(file: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end: `read` may return fewer before that."""
    pieces = []
    while size and (piece := file.read(size)):
        pieces.append(piece)
        size -= len(piece)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
