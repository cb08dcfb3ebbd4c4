"""Whole compressed files and archives, made by the programs of this machine and by Python's libraries."""

import bz2
import gzip
import io
import lzma
import random
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import lz4.frame

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Maker = Callable[[bytes], bytes]


def rows(size: int, seed: int = 1) -> bytes:
    """Return text that compresses like a dump: some four times."""
    chance = random.Random(seed)
    lines = []
    while size > 0:
        line = b"INSERT INTO t VALUES (%d,'%x','some words');\n" % (chance.randrange(10**6), chance.getrandbits(64))
        lines.append(line)
        size -= len(line)
    return b"".join(lines)


def _program(*command: str) -> Maker:
    def make(data: bytes) -> bytes:
        return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout

    return make


def _twice(make: Maker) -> Maker:
    """Return a maker of two members: both halves of the data, one after the other."""
    return lambda data: make(data[: len(data) // 2]) + make(data[len(data) // 2 :])


def _lz4_linked(data: bytes) -> bytes:
    return lz4.frame.compress(data, block_linked=True, content_checksum=True, block_checksum=True)


# By kind: ways to make a file of this kind. The first way of each kind writes checksums.
COMPRESSORS: Mapping[str, Mapping[str, Maker]] = {
    "gzip": {
        "gzip": _program("gzip", "-c"),
        "gzip -9": _program("gzip", "-9", "-c"),
        "gzip -1 twice": _twice(_program("gzip", "-1", "-c")),
        "python": lambda data: gzip.compress(data, mtime=0),
    },
    "bzip2": {
        "bzip2": _program("bzip2", "-c"),
        "bzip2 -1 twice": _twice(_program("bzip2", "-1", "-c")),
        "python": bz2.compress,
    },
    "xz": {
        "xz": _program("xz", "-c"),
        "xz -9e": _program("xz", "-9e", "-c"),
        "xz -T2 with blocks": _program("xz", "-T2", "--block-size=20000", "-c"),
        "xz --check=sha256 twice": _twice(_program("xz", "--check=sha256", "-c")),
        "xz without checksum": _program("xz", "--check=none", "-c"),
        "python": lzma.compress,
    },
    "zstd": {
        "zstd": _program("zstd", "-q", "-c"),
        "zstd -19": _program("zstd", "-q", "-19", "-c"),
        "zstd --long": _program("zstd", "-q", "--long=27", "-c"),
        "zstd -T2 twice": _twice(_program("zstd", "-q", "-T2", "-c")),
        "zstd without checksum": _program("zstd", "-q", "--no-check", "-c"),
        "python": zstd.compress,
    },
    "lz4": {
        "lz4": _program("lz4", "-q", "-c"),
        "lz4 -9 with block checksums": _program("lz4", "-q", "-9", "-BX", "-c"),
        "lz4 -B4 twice": _twice(_program("lz4", "-q", "-B4", "-c")),
        "lz4 --no-frame-crc": _program("lz4", "-q", "--no-frame-crc", "-c"),
        "python": _lz4_linked,
    },
}


def zip_of(data: bytes, *, method: int = zipfile.ZIP_DEFLATED, comment: bytes = b"", zip64: bool = False) -> bytes:
    """Return a zip archive of three members: the data in two parts, and an empty one."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.comment = comment
        for name, part in (("a.sql", data[: len(data) // 2]), ("folder/b.sql", data[len(data) // 2 :]), ("empty", b"")):
            with archive.open(name, "w", force_zip64=zip64) as member:
                member.write(part)
    return file.getvalue()


def streamed_zip_of(data: bytes) -> bytes:
    """Return a zip archive that was written to a pipe, with sizes after the contents."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.written = io.BytesIO()

        def writable(self) -> bool:
            return True

        def write(self, part: object) -> int:
            return self.written.write(part)  # type: ignore[arg-type]

    pipe = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.sql", data)
    return pipe.written.getvalue()


def tar_of(data: bytes, *, format: int = tarfile.GNU_FORMAT) -> bytes:
    """Return a tar archive of two files, a folder, a link, and a name that is too long for one header."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=format) as archive:
        for name, part in (("a.sql", data[: len(data) // 2]), ("n" * 150 + "/b.sql", data[len(data) // 2 :])):
            member = tarfile.TarInfo(name)
            member.size = len(part)
            archive.addfile(member, io.BytesIO(part))
        folder, link = tarfile.TarInfo("folder"), tarfile.TarInfo("folder/link")
        folder.type, link.type, link.linkname = tarfile.DIRTYPE, tarfile.SYMTYPE, "../a.sql"
        archive.addfile(folder)
        archive.addfile(link)
    return file.getvalue()


def archive_of(folder: Path, *command: str) -> bytes:
    """Return what a program makes of no input, run in a folder. The test is skipped if it is not installed."""
    if shutil.which(command[0]) is None:
        import pytest

        pytest.skip(f"{command[0]} is not installed")
    return subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=True).stdout
