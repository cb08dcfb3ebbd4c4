"""Translates the exceptions of ftplib into those of the storage contract."""

import ftplib
from collections.abc import Iterator
from contextlib import contextmanager

from frepo_core.plugins import BlobNotFound, StorageFull, StorageUnavailable

# ssl.SSLError is an OSError. A reply that cannot be parsed raises ValueError.
DRIVER_ERRORS = (ftplib.Error, OSError, EOFError, ValueError)
DISK_FULL = {452, 552}  # RFC 959, 4.2.2: insufficient storage space; exceeded storage allocation
UNKNOWN_COMMAND = {500, 501, 502, 504}
REFUSED_WORDS = ("denied", "permission", "permitted")


def reply_code(error: BaseException) -> int:
    """Return the code of the server's reply (RFC 959, 4.2), or 0 if the error is not a reply."""
    digits = str(error)[:3]
    return int(digits) if isinstance(error, ftplib.Error) and digits.isdecimal() else 0


def is_not_found(error: BaseException) -> bool:
    """Return whether the reply means that the file or folder does not exist.

    RFC 959 uses 550 for missing and for forbidden files; only the text distinguishes them. Some servers answer 501 to
    the MLSD of a missing folder.
    """
    code, text = reply_code(error), str(error).lower()
    return (code == 550 and not any(word in text for word in REFUSED_WORDS)) or (code == 501 and "no such" in text)


@contextmanager
def translated(action: str, *, absent: str | None = None) -> Iterator[None]:
    """Raise the driver's exceptions as `StorageFull` or `StorageUnavailable`, with the original as the cause.

    `action` describes the operation for the message. With `absent`, the key of a blob, the reply that the file does not
    exist becomes `BlobNotFound`.
    """
    try:
        yield
    except DRIVER_ERRORS as error:
        if absent is not None and is_not_found(error):
            raise BlobNotFound(f"No blob {absent!r} on the FTP server") from error
        if reply_code(error) in DISK_FULL:
            raise StorageFull("The FTP server has no room left") from error
        reason = str(error) or "it closed the connection"
        raise StorageUnavailable(f"The FTP server failed at {action}: {reason}") from error
