"""Contents that are made to cost a check much: records, members and frames without end, and large windows."""

import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping

from .compressors import COMPRESSORS, zstd

EMPTY_MEMBER = tarfile.TarInfo("a").tobuf(tarfile.GNU_FORMAT)
END_OF_TAR = bytes(1024)
# The codes of windows, for `xz_with_window`.
XZ_192_MB, XZ_96_MB, XZ_48_MB, XZ_24_MB = 31, 29, 27, 25
XZ_16_MB, XZ_8_MB, XZ_4_MB, XZ_2_MB = 24, 22, 20, 18


def pax(*records: bytes) -> bytes:
    """Return a pax header with these records, which begin with their own lengths."""
    header = tarfile.TarInfo("pax")
    header.type, body = tarfile.XHDTYPE, b"".join(records)
    header.size = len(body)
    return header.tobuf(tarfile.USTAR_FORMAT) + body + bytes(-len(body) % 512)


def xz_with_window(data: bytes, size_code: int) -> bytes:
    """Return data as xz whose header asks for this window: 2 or 3 times a power of two, see the format of xz, 5.3.1."""
    packed = bytearray(lzma.compress(data, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 4096}]))
    packed[16] = size_code
    packed[20:24] = zlib.crc32(packed[12:20]).to_bytes(4, "little")
    return bytes(packed)


def zstd_with_window(data: bytes, log: int) -> bytes:
    """Return data as zstd whose header asks for this window (RFC 8878, 3.1.1.1.2)."""
    compressor = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 10})
    packed = bytearray(compressor.compress(data) + compressor.flush())
    assert not packed[4] & 0x20, "there is a window in the header"
    packed[5] = (log - 10) << 3
    return bytes(packed)


def tiny_records(count: int) -> bytes:
    """Return a whole tar archive whose pax header consists of so many of the smallest records."""
    return pax(b"5 a=\n" * count) + EMPTY_MEMBER + END_OF_TAR


def _zip_of_empty_members(count: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for number in range(count):
            archive.writestr(str(number), b"")
    return file.getvalue()


def _zip_of_long_fields(entries: int) -> bytes:
    """Return a zip archive whose directory has extra fields of 64 KiB, each of 16,000 empty ones."""
    extra = b"\xff\xff\0\0" * 16_000
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"a"
    directory = b"".join(
        struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, len(extra), 0, 0, 0, 0, at) + b"a" + extra
        for at in range(0, entries * len(local), len(local))
    )
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, entries, entries, len(directory), entries * len(local), 0)
    return local * entries + directory + end


# The job, which has more time, finds each of them good.
COSTLY: Mapping[str, Callable[[], bytes]] = {
    "tar of tiny records": lambda: tiny_records(300_000),
    "the same in gzip": lambda: gzip.compress(tiny_records(300_000)),
    "tar of empty members": lambda: EMPTY_MEMBER * 30_000 + END_OF_TAR,
    "zip of empty members": lambda: _zip_of_empty_members(30_000),
    "zip of long fields": lambda: _zip_of_long_fields(60),
    "gzip of empty members": lambda: gzip.compress(b"") * 100_000,
    "zstd of empty frames": lambda: zstd.compress(b"") * 100_000,
    "lz4 of empty frames": lambda: COMPRESSORS["lz4"]["python"](b"") * 50_000,
    "xz of empty streams": lambda: COMPRESSORS["xz"]["python"](b"") * 30_000,
    "zeros in bzip2": lambda: COMPRESSORS["bzip2"]["python"](bytes(60_000_000)),
    "dump of short lines": lambda: gzip.compress(
        b"-- MySQL dump 10\n" + b";\n" * 100_000_000 + b"-- Dump completed\n", 1
    ),
}
