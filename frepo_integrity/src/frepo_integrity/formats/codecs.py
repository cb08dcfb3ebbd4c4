"""The five compressions behind one interface, that of Python's `lzma.LZMADecompressor`."""

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import lz4.frame

from . import lz4_legacy

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

# Memory for the window of one decompressor. `xz -9` needs 65 MiB, `zstd --long` 128 MiB.
MEMORY = 256 << 20
# zstd's own limit, which larger ones of ours do not raise.
_ZSTD_WINDOW_LOG = 27
_LZ4_HAS_DICTIONARY = 0x01


class Decompressor(Protocol):
    """One member (stream, frame) of a compressed content."""

    @property
    def eof(self) -> bool:
        """Whether the end of the member was reached and its checksum was right."""

    @property
    def needs_input(self) -> bool:
        """Whether there is no more output without more input."""

    @property
    def unused_data(self) -> bytes:
        """The input after the end of the member."""

    def decompress(self, data: bytes, max_length: int) -> bytes:
        """Return at most `max_length` bytes of output."""


@dataclass(frozen=True, kw_only=True)
class Codec:
    """A compression. `starts` are the first bytes of a member, `errors` the exceptions for wrong data.

    `begin` makes a decompressor for one member, which may use this memory (bytes) for its window. `refuse` says why a
    member with these first bytes cannot be decompressed here, and `is_unsupported` whether an error means that, rather
    than that the data is wrong; `needs_memory`, whether it means that more memory is needed. `has_padding` says that
    zeros may be between two members.
    """

    name: str
    starts: tuple[bytes, ...]
    errors: tuple[type[Exception], ...]
    begin: Callable[[int], Decompressor]
    refuse: Callable[[bytes], str | None] = lambda head: None
    is_unsupported: Callable[[str], bool] = lambda message: False
    needs_memory: Callable[[str], bool] = lambda message: False
    has_skippable_frames: bool = False
    has_padding: bool = False


class _Inflater:
    """zlib in the mode for gzip: it verifies the CRC-32 and the length (RFC 1952)."""

    def __init__(self, wbits: int) -> None:
        self._inflate = zlib.decompressobj(wbits)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)
        self.needs_input = not self._inflate.unconsumed_tail and len(out) < max_length
        return out


def raw_deflate() -> Decompressor:
    """Return a decompressor for deflated data without a header, as in zip."""
    return _Inflater(-zlib.MAX_WBITS)


def _needs_zstd_dictionary(head: bytes) -> str | None:
    try:
        dictionary = zstd.get_frame_info(head).dictionary_id
    except zstd.ZstdError:
        return None  # the decompressor says what is wrong
    return f"the zstd data needs the dictionary {dictionary}" if dictionary else None


def _needs_lz4_dictionary(head: bytes) -> str | None:
    return "the lz4 data needs a dictionary" if len(head) > 4 and head[4] & _LZ4_HAS_DICTIONARY else None


def _zstd(memory: int) -> Decompressor:
    log = min(_ZSTD_WINDOW_LOG, memory.bit_length() - 1)
    decompressor: Decompressor = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: log})
    return decompressor


def _lz4() -> Decompressor:
    decompressor: Decompressor = lz4.frame.LZ4FrameDecompressor()
    return decompressor


GZIP = Codec(
    name="gzip",
    starts=(b"\x1f\x8b\x08",),
    errors=(zlib.error,),
    begin=lambda memory: _Inflater(16 + zlib.MAX_WBITS),
)
BZIP2 = Codec(
    name="bzip2",
    starts=tuple(
        b"BZh%d" % level + block
        for level in range(1, 10)
        for block in (bytes.fromhex("314159265359"), bytes.fromhex("177245385090"))
    ),
    errors=(OSError, ValueError),
    begin=lambda memory: bz2.BZ2Decompressor(),
)
XZ = Codec(
    name="xz",
    starts=(b"\xfd7zXZ\x00",),
    errors=(lzma.LZMAError,),
    begin=lambda memory: lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=memory),
    is_unsupported=lambda message: "unsupported options" in message,
    needs_memory=lambda message: "Memory usage" in message,
    has_padding=True,
)
ZSTD = Codec(
    name="zstd",
    starts=(b"\x28\xb5\x2f\xfd",),
    errors=(zstd.ZstdError,),
    begin=_zstd,
    refuse=_needs_zstd_dictionary,
    is_unsupported=lambda message: "Unsupported" in message,
    needs_memory=lambda message: "too much memory" in message,
    has_skippable_frames=True,
)
LZ4 = Codec(
    name="lz4",
    starts=(b"\x04\x22\x4d\x18", lz4_legacy.START),
    errors=(RuntimeError,),
    begin=lambda memory: _lz4(),
    refuse=_needs_lz4_dictionary,
    is_unsupported=lambda message: "allocation_failed" in message,
    has_skippable_frames=True,
)
CODECS = {codec.name: codec for codec in (GZIP, BZIP2, XZ, ZSTD, LZ4)}
