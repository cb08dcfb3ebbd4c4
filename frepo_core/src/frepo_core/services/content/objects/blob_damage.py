"""Reads a blob and compares it with the digest and size of its row."""

from collections.abc import Callable, Iterator

from frepo_core.errors import BlobDamaged, BlobNotFound, StorageUnavailable
from frepo_core.plugins import Checksums, StorageBackend

CHUNK = 1 << 20
MISSING = "the bytes are missing"


class UnreadableError(Exception):
    """The storage works but cannot read this blob, for example because of a bad sector on the disk."""


def find_damage(
    backend: StorageBackend,
    key: str,
    *,
    digest: str,
    size: int,
    sums: Checksums | None = None,
    pace: Callable[[int], None] | None = None,
) -> str | None:
    """Return what is wrong with a blob, or None if it is sound. `sums`, if given, gets the bytes of a sound one.

    `pace` is called after each piece with its size in bytes; it may wait, or end the check by an exception.

    Raises `UnreadableError` if the blob exists but cannot be read, and the backend's other errors.
    """
    found, sums = 0, sums or Checksums()
    try:
        for chunk in read_all(backend, key):
            found += len(chunk)
            sums.update(chunk)
            if pace is not None:
                pace(len(chunk))
            if found > size:  # what follows may be terabytes
                found = backend.stat(key).size
                break
    except BlobNotFound:
        return MISSING
    except BlobDamaged as error:
        return error.message
    except (StorageUnavailable, OSError) as error:
        if is_there(backend, key):
            raise UnreadableError(f"it cannot be read: {error}") from error
        return MISSING
    if found != size:
        return f"it has {found} bytes, not {size}"
    return None if sums.digest == digest else "its content is not what was stored"


def read_all(backend: StorageBackend, key: str) -> Iterator[bytes]:
    """Read a blob in pieces."""
    with backend.open(key) as blob:
        while chunk := blob.read(CHUNK):
            yield chunk


def is_there(backend: StorageBackend, key: str) -> bool:
    """Return whether the storage has this key."""
    try:
        backend.stat(key)
    except BlobNotFound:
        return False
    return True
