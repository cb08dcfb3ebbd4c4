"""The line of a shell that loads a restored backup, by the first bytes of its content."""

import bz2
import lzma
import zlib
from collections.abc import Callable
from shlex import quote

HEAD = 64 << 10  # bytes
_TAR = 257  # where a tar names its format
# How a compressed content begins, the program that decompresses it, and what reads its first bytes here.
_CODECS: tuple[tuple[bytes, str, Callable[[bytes], bytes] | None], ...] = (
    (b"\x1f\x8b", "gunzip", lambda head: zlib.decompressobj(31).decompress(head, HEAD)),
    (b"\xfd7zXZ\x00", "unxz", lambda head: lzma.LZMADecompressor().decompress(head, HEAD)),
    (b"BZh", "bunzip2", lambda head: bz2.BZ2Decompressor().decompress(head, HEAD)),
    (b"\x28\xb5\x2f\xfd", "unzstd", None),
    (b"\x04\x22\x4d\x18", "unlz4", None),
)
_ERRORS = (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError)


def loading_line(head: bytes, path: str) -> str:
    """Return the line for a content with these first bytes in the file at `path`; empty if none is known.

    DATABASE and FOLDER stand for what only its reader knows.
    """
    name = quote(path)
    for magic, program, decompress in _CODECS:
        if head.startswith(magic):
            inner = _read_inner(decompress, head) if decompress else b""
            return f"{program} < {name} | {_reader_of(inner) or '…'}"
    if head.startswith(b"SQLite format 3\x00"):
        return f"cp {name} DATABASE, while nothing has it open"
    if head.startswith(b"PK\x03\x04"):
        return f"unzip {name} -d FOLDER"
    reader = _reader_of(head)
    return f"{reader} < {name}" if reader else ""


def _read_inner(decompress: Callable[[bytes], bytes], head: bytes) -> bytes:
    try:
        return decompress(head)
    except _ERRORS:
        return b""


def _reader_of(head: bytes) -> str:
    """Return the program that reads a content on its standard input; empty if none is known."""
    if head.startswith(b"PGDMP"):
        return "pg_restore --dbname=DATABASE"
    if head[_TAR : _TAR + 5] == b"ustar":
        return "tar -x -C FOLDER"
    if b"PostgreSQL database cluster dump" in head[:4096]:
        return "psql -v ON_ERROR_STOP=1 postgres"
    if b"PostgreSQL database dump" in head[:4096]:
        return "psql -v ON_ERROR_STOP=1 DATABASE"
    if b"MariaDB dump" in head[:4096] or b"MySQL dump" in head[:4096]:
        return "mariadb DATABASE"
    return "sqlite3 DATABASE" if head.startswith(b"PRAGMA foreign_keys=OFF;") else ""
