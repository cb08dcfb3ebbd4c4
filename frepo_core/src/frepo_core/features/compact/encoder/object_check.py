"""Reads an object that was just written, and compares all its checksums."""

import hashlib
import os
from typing import BinaryIO

from frepo_core.errors import DamagedObjectError

from ..encodings.format import checksum, read_fully, read_head, unpack_entry


def check_object(stored: BinaryIO, digest: str) -> str:
    """Return the SHA-256 (hex) of the object of the content `digest`. It has to lie as `encode` writes it.

    Its frames were decoded before: here, each must be in its place, and have the same bytes still.
    Raises `DamagedObjectError`.
    """
    head = read_head(stored, digest)
    if stored.seek(0, os.SEEK_END) != head.stored:
        raise DamagedObjectError(digest, f"it has not {head.stored} bytes")
    stored.seek(0)
    start = read_fully(stored, head.data)
    sha256, position = hashlib.sha256(start), head.data
    for index in range(head.count):
        place = head.table + index * head.entry_size
        entry = unpack_entry(start[place : place + head.entry_size], head, index)
        frame = read_fully(stored, entry.length)
        if entry.offset != position or checksum(frame) != entry.checksum:
            raise DamagedObjectError(digest, "its bytes are wrong", segment=index)
        sha256.update(frame)
        position += entry.length
    if position != head.stored:
        raise DamagedObjectError(digest, f"it has {head.stored - position} bytes more than its segments")
    return sha256.hexdigest()
