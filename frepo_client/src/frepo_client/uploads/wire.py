"""Compression on the way: the service stores what is in the body, so that it can compact it."""

from __future__ import annotations

import importlib
import os
import zlib
from collections.abc import Sequence
from typing import Any, Callable

CODINGS = ("zstd", "gzip")
CHOICES = ("auto", "none", *CODINGS)
_COMPRESSORS = frozenset(
    {"gzip", "pigz", "zstd", "zstdmt", "pzstd", "xz", "pxz", "bzip2", "pbzip2", "lbzip2", "lz4", "lzop", "brotli", "7z"}
)
_ENCRYPTION = frozenset({"age", "rage", "gpg", "gpg2", "openssl"})
# What begins so does not become smaller: gzip, zstd, xz, bzip2, lz4, zip, a custom dump of PostgreSQL, age.
_OPAQUE = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh", b"\x04\x22\x4d\x18", b"PK", b"PGDMP", b"age-")
_PROBE = 64 << 10
# Services refuse what becomes more than 1,000 times as large; gzip -1 makes nothing so small.
_SMALLEST = 500
_SKIPPED = b"\x50\x2a\x4d\x18"
_WORTH = 0.95


def encoder(coding: str) -> Callable[[bytes], bytes]:
    """Return what compresses a part as a whole member of gzip or frame of zstd. Without a coding, a part stays."""
    if coding == "gzip":
        return _gzip
    if coding == "zstd":
        return _zstd_frames
    return bytes


def has_zstd() -> bool:
    """Whether this Python compresses with zstd: 3.14, or one with the package backports.zstd."""
    return _zstd() is not None


def is_compressor(stage: Sequence[str]) -> bool:
    """Whether a stage compresses, as far as the name of its program says it."""
    return _program(stage) in _COMPRESSORS


def is_opaque(stage: Sequence[str]) -> bool:
    """Whether what a stage puts out does not become smaller, as far as the name of its program says it."""
    return is_compressor(stage) or _program(stage) in _ENCRYPTION


def becomes_smaller(begin: bytes) -> bool:
    """Whether it is worth to compress a content that begins so."""
    return not begin.startswith(_OPAQUE) and _shrinks(begin)


def _program(stage: Sequence[str]) -> str:
    return os.path.splitext(os.path.basename(stage[0]))[0]


def _shrinks(data: bytes) -> bool:
    probe = data[:_PROBE]
    return len(zlib.compress(probe, 1)) < _WORTH * len(probe)


def _gzip(part: bytes) -> bytes:
    # Noise is only wrapped, which costs no time.
    encoding = zlib.compressobj(1 if _shrinks(part) else 0, zlib.DEFLATED, 31)
    return encoding.compress(part) + encoding.flush()


def _zstd_frames(part: bytes) -> bytes:
    encoded: bytes = _zstd().compress(part)
    lacking = len(part) // _SMALLEST - len(encoded)
    # A frame that is skipped (RFC 8878, 3.1.2).
    return encoded if lacking <= 0 else encoded + _SKIPPED + lacking.to_bytes(4, "little") + bytes(lacking)


def _zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd"):
        try:
            return importlib.import_module(name)
        except ImportError:
            continue
    return None
