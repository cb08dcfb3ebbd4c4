"""Checks a stream of mariadb-backup or XtraBackup: each chunk's CRC-32, and that each file in it ends.

A chunk is described in `extra/mariabackup/xbstream.h` of MariaDB, a sparse one in that of XtraBackup.
"""

import zlib

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import NotCheckable
from ..format import Format, Reader

START = b"XBSTCK01"
_PAYLOAD, _SPARSE, _END = b"P", b"S", b"E"
_IGNORABLE = 0x01
_MAX_PATH = 4096
_MAX_FILES = 1_000_000
# A backup of InnoDB has the information about itself last; if that is missing, the stream is cut between two files.
_FIRST_NAME, _LAST_NAME = b"ibdata1", b"backup_info"


def check(source: ByteStream, budget: Budget) -> str:
    """Read all chunks."""
    reader = Reader(source, budget, "xbstream", "the stream of the database's backup")
    begun: set[bytes] = set()
    ended = is_backup = has_last = 0
    while not reader.is_at_end():
        if reader.take(len(START), "the start of a chunk") != START:
            raise reader.broken(f"no chunk begins at byte {reader.offset - len(START)}")
        flags, kind = reader.take(1, "a chunk")[0], reader.take(1, "a chunk")
        path = _read_path(reader)
        is_backup, has_last = is_backup or _FIRST_NAME in path, has_last or _LAST_NAME in path
        if kind in {_PAYLOAD, _SPARSE}:
            begun.add(path)
            _read_payload(reader, kind)
        elif kind == _END:
            begun.discard(path)
            ended += 1
        elif not flags & _IGNORABLE:
            raise NotCheckable(f"a chunk of the stream is of the unknown kind {kind!r}")
        if len(begun) > _MAX_FILES:
            raise NotCheckable(f"the stream has more than {_MAX_FILES} files at the same time")
    if begun:
        raise reader.broken(f"{len(begun)} of {len(begun) + ended} files have no end")
    if is_backup and not has_last:
        raise reader.broken("the file xtrabackup_info, which is written last, is missing")
    return f"The stream of the database's backup is whole, it has {ended} files"


def _read_path(reader: Reader) -> bytes:
    size = reader.number(4, "a chunk")
    if not 0 < size <= _MAX_PATH:
        raise reader.broken(f"a path of {size} bytes is before byte {reader.offset}")
    return reader.take(size, "a path")


def _read_payload(reader: Reader, kind: bytes) -> None:
    entries = reader.number(4, "a sparse chunk") if kind == _SPARSE else 0
    size = reader.number(8, "a chunk")
    reader.skip(8, "a chunk")  # where the payload belongs in its file
    expected = reader.number(4, "a chunk")
    found = 0

    def use(data: bytes) -> None:
        nonlocal found
        found = zlib.crc32(data, found)

    reader.skip(8 * entries, "a sparse map", use)
    reader.skip(size, "a chunk", use)
    if found != expected:
        raise reader.broken(f"the checksum of the chunk before byte {reader.offset} is wrong")


FORMAT = Format(
    kind="xbstream",
    label="MySQL/MariaDB backup",
    suffixes=(".xb", ".xbstream"),
    recognizes=lambda head: head.startswith(START),
    check=check,
)
