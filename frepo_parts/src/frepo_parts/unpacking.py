"""Unpacks a content that its sender has compressed as a whole, and says why others cannot be read."""

import gzip
import sys
import zlib
from typing import BinaryIO, cast

from frepo_core.plugins import NotListable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

HEAD = 4096
FAILURES = (EOFError, OSError, zlib.error, zstd.ZstdError)
_COMPRESSED = {
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"\x04\x22\x4d\x18": "lz4",
    b"7z\xbc\xaf\x27\x1c": "7z",
}
# The first packets of OpenPGP are session keys (RFC 4880, 5.1 and 5.3).
_ENCRYPTED = (
    *(b"age-encryption.org/", b"-----BEGIN AGE", b"-----BEGIN PGP MESSAGE", b"Salted__"),
    *(
        b"\x85\x01\x0c",
        b"\x85\x02\x0c",
        b"\x85\x01\x8c",
        b"\x84\x5e\x03",
        b"\x8c\x0d\x04",
        b"\xc3\x0d\x04",
        b"\xc1\xc0",
    ),
)


def unpacked(file: BinaryIO) -> BinaryIO:
    """Return the content itself, or what gzip or Zstandard has packed: seeking backwards there reads it again.

    Raises `NotListable` for other compressions, and for what is encrypted.
    """
    head = file.read(32)
    file.seek(0)
    if head.startswith(b"\x1f\x8b\x08"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return cast(BinaryIO, zstd.ZstdFile(file))
    for start, name in _COMPRESSED.items():
        if head.startswith(start):
            raise NotListable(f"It was compressed as a whole by its sender, with {name}; gzip and Zstandard are read")
    if head.startswith(_ENCRYPTED):
        raise NotListable("It is encrypted, so nobody but its owner can list it")
    return file
