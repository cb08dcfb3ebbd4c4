"""Reads an object, encoded or not, and compares its content with the digest of its row."""

from collections.abc import Callable

from frepo_core.db.models import StoredObject
from frepo_core.errors import BlobDamaged, BlobNotFound, DamagedBaseError, DamagedObjectError, StorageUnavailable
from frepo_core.plugins import Checksums, StorageBackend

from ..objects.blob_damage import CHUNK, MISSING, UnreadableError, find_damage, is_there
from ..objects.states import RAW
from .chain_reader import ChainReader


def find_object_damage(
    reader: ChainReader,
    backend: StorageBackend,
    row: StoredObject,
    *,
    sums: Checksums | None = None,
    pace: Callable[[int], None] | None = None,
) -> str | None:
    """Return what is wrong with an object, or why it cannot be decoded; None if it is sound.

    The parameters and errors are those of `find_damage`. A base is read from another object if one is damaged: the
    object is not affected then.
    """
    key = str(row.key)
    if row.encoding == RAW:
        return find_damage(backend, key, digest=row.digest, size=row.size, sums=sums, pace=pace)
    sums = sums or Checksums()
    try:
        found = _read(reader, row, sums, pace)
    except BlobNotFound:
        return MISSING
    except (BlobDamaged, DamagedObjectError, DamagedBaseError) as error:
        return error.message
    except (StorageUnavailable, OSError) as error:
        if is_there(backend, key):
            raise UnreadableError(f"it cannot be read: {error}") from error
        return MISSING
    if found != row.size:
        return f"it has {found} bytes, not {row.size}"
    return None if sums.digest == row.digest else "its SHA-256 is wrong"


def _read(reader: ChainReader, row: StoredObject, sums: Checksums, pace: Callable[[int], None] | None) -> int:
    """Read a content to its end into the sums; return its size."""
    found = 0
    with reader.open(row) as content:
        while chunk := content.read(CHUNK):
            found += len(chunk)
            sums.update(chunk)
            if pace is not None:
                pace(len(chunk))
    return found
