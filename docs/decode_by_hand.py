#!/usr/bin/env python3
"""Write a content that frepo stored compressed, or as the difference to another one, to a file, without frepo.

It needs a storage as a directory, and Python 3.14, or 3.9 with the package backports.zstd. The content is named by its
SHA-256. Its base, and the base of that, are found in the same storage and written next to the target, then deleted.
docs/compact-format.md describes what this script reads.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import struct
import sys
import zlib
from pathlib import Path
from typing import Any, BinaryIO

try:
    from compression import zstd  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from backports import zstd

MAGIC = b"\x89frepo\r\n"
ENTRY = struct.Struct("<QIQIQQI")
PIECE = 1 << 20
DEEPEST = 16


def read_head(source: BinaryIO) -> dict[str, Any] | None:
    """Return the head of an object, and leave the file at its table; None if it does not begin with a head."""
    start = source.read(12)
    if not start.startswith(MAGIC) or len(start) < 12:
        return None
    text = source.read(int.from_bytes(start[8:], "little"))
    if int.from_bytes(source.read(4), "little") != zlib.crc32(start + text):
        return None
    head: dict[str, Any] = json.loads(text)
    return head


def decode(source: BinaryIO, head: dict[str, Any], base: BinaryIO | None, target: BinaryIO) -> None:
    """Write the content of an object. Raises ValueError with the segment that cannot be decoded."""
    size, segment = head["size"], head["segment"]
    count = -(-size // segment)
    table = [ENTRY.unpack(source.read(ENTRY.size)) for _ in range(count)]
    for index, (offset, length, window_offset, window_length, *_) in enumerate(table):
        prefix = None
        if window_length:
            assert base is not None
            base.seek(window_offset)
            prefix = zstd.ZstdDict(base.read(window_length), is_raw=True).as_prefix
        source.seek(offset)
        options = {zstd.DecompressionParameter.window_log_max: 27}
        try:
            data = zstd.ZstdDecompressor(prefix, options).decompress(source.read(length))
        except (zstd.ZstdError, EOFError) as error:
            raise ValueError(f"segment {index} cannot be decoded: {error}") from error
        if len(data) != min(segment, size - index * segment):
            raise ValueError(f"segment {index} is cut off")
        target.write(data)


def write(storage: Path, digest: str, target: Path, above: tuple[str, ...] = ()) -> None:
    """Write the content with this SHA-256 from its first sound object. Raises ValueError if no object is sound.

    `above` are the contents that need this one: objects that need each other are passed over.
    """
    if digest in above or len(above) > DEEPEST:
        raise ValueError(f"{above[0]} needs itself, or too many others")
    problem = "it is missing"
    for path in sorted(storage.glob(f"{digest[:2]}/{digest}-*")):
        try:
            write_one(storage, path, digest, target, above)
        except (OSError, ValueError) as error:
            problem = f"{path}: {error}"
            continue
        return
    raise ValueError(f"The content {digest} cannot be written: {problem}")


def write_one(storage: Path, path: Path, digest: str, target: Path, above: tuple[str, ...] = ()) -> None:
    """Write the content of one object, which may be raw: then its own bytes have the digest."""
    with path.open("rb") as source, target.open("wb") as writer:
        head = read_head(source)
        if head is None or head["sha256"] != digest:
            source.seek(0)
            for piece in iter(lambda: source.read(PIECE), b""):
                writer.write(piece)
        elif head["codec"] == "zstd":
            decode(source, head, None, writer)
        else:
            below = target.with_name(f"{target.name}.base")
            write(storage, head["base"], below, (*above, digest))
            with below.open("rb") as base:
                decode(source, head, base, writer)
            below.unlink()
    found = hashlib.sha256()
    with target.open("rb") as written:
        for piece in iter(lambda: written.read(PIECE), b""):
            found.update(piece)
    if found.hexdigest() != digest:
        raise ValueError("its SHA-256 is wrong")


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("storage", type=Path, help="the directory of the storage, or a copy of it")
    parser.add_argument("digest", help="the SHA-256 of the content, 64 hexadecimal digits")
    parser.add_argument("target", type=Path, help="the file to write")
    arguments = parser.parse_args()
    try:
        write(arguments.storage, arguments.digest, arguments.target)
    except ValueError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
