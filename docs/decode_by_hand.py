#!/usr/bin/env python3
"""Write a content that frepo stored compressed, or as the difference to another one, to a file, without frepo.

It needs a storage as a directory, and Python 3.14, or 3.9 with the package backports.zstd. The content is named by its
SHA-256. Its base, and the base of that, are found in the same storage and written next to the target, then deleted.
docs/compact-format.md describes what this script reads.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import secrets
import shutil
import struct
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

try:
    from compression import zstd  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    from backports import zstd

MAGIC = b"\x89frepo\r\n"
ENTRY = struct.Struct("<QIQIQQ")
WINDOW = struct.Struct("<QI")
# Of an entry of the table, by the format.
ENTRY_SIZES = {1: 44, 2: 128}
PIECE = 1 << 20
DEEPEST = 16
MOST_HEAD = 64 << 10
MOST_SEGMENT = 16 << 20
MOST_WINDOW = 64 << 20
MOST_SIZE = 1 << 62
NO_SIZES: Mapping[str, int] = {}


def read_head(source: BinaryIO) -> dict[str, Any] | None:
    """Return the head of an object, and leave the file at its table; None if it does not begin with a head."""
    start = source.read(12)
    if not start.startswith(MAGIC) or len(start) < 12:
        return None
    length = int.from_bytes(start[8:], "little")
    text = source.read(length) if length <= MOST_HEAD else b""
    if len(text) != length or int.from_bytes(source.read(4), "little") != zlib.crc32(start + text):
        return None
    try:
        head = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return head if isinstance(head, dict) else None


def check_head(head: dict[str, Any], stored: int) -> str:
    """Return the codec of a head. Raises ValueError if it has values that no object of `stored` bytes has."""
    size, segment, codec = (head.get(name) for name in ("size", "segment", "codec"))
    if head.get("format") not in tuple(ENTRY_SIZES):  # it may be a list, which no dictionary looks up
        raise ValueError(f"its format is {str(head.get('format'))[:32]}, which is newer than this script")
    if type(size) is not int or type(segment) is not int or size < 0 or not 0 < segment <= MOST_SEGMENT:
        raise ValueError("its head has impossible sizes")
    if -(-size // segment) * ENTRY_SIZES[head["format"]] > stored:
        raise ValueError("it has fewer bytes than its table")
    if codec != "zstd" and (codec != "delta" or not re.fullmatch("[0-9a-f]{64}", str(head.get("base")))):
        raise ValueError(f"its codec is {str(codec)[:32]}")
    return str(codec)


def decode(source: BinaryIO, head: dict[str, Any], base: BinaryIO | None, target: BinaryIO) -> None:
    """Write the content of an object. Raises ValueError with the segment that cannot be decoded."""
    size, segment = head["size"], head["segment"]
    entry_size = ENTRY_SIZES[head["format"]]
    table = source.read(-(-size // segment) * entry_size)
    if len(table) % entry_size:
        raise ValueError("its table is cut off")
    for index in range(len(table) // entry_size):
        entry = table[index * entry_size :][:entry_size]
        offset, length, *first, _, _ = ENTRY.unpack(entry[: ENTRY.size])
        windows = [tuple(first), *WINDOW.iter_unpack(entry[ENTRY.size : -4])]
        expected, farthest = min(segment, size - index * segment), max(start for start, _ in windows)
        window_length = sum(window[1] for window in windows)
        if max(offset, farthest) >= MOST_SIZE or length > 2 * expected + 1024 or window_length > MOST_WINDOW:
            raise ValueError(f"segment {index} is larger than allowed")
        prefix = None
        if window_length and base is not None:
            pieces = []
            for start, count in windows:
                base.seek(start)
                pieces.append(base.read(count))
            prefix = zstd.ZstdDict(b"".join(pieces), is_raw=True).as_prefix
        source.seek(offset)
        options = {zstd.DecompressionParameter.window_log_max: 27}
        try:
            data = zstd.ZstdDecompressor(prefix, options).decompress(source.read(length), expected)
        except (zstd.ZstdError, EOFError) as error:
            raise ValueError(f"segment {index} cannot be decoded: {error}") from error
        if len(data) != expected:
            raise ValueError(f"segment {index} is cut off")
        target.write(data)


def write(
    storage: Path, digest: str, target: Path, above: tuple[str, ...] = (), sizes: Mapping[str, int] = NO_SIZES
) -> None:
    """Write the content with this SHA-256 from its first sound object. Raises ValueError if no object is sound.

    `above` are the contents that need this one: objects that need each other are passed over. `sizes` are those of the
    contents that are known, by their SHA-256: nothing larger is written.
    """
    if digest in above or len(above) > DEEPEST:
        raise ValueError(f"{above[0]} needs itself, or too many others")
    problem = "it is missing"
    for path in sorted(storage.glob(f"{digest[:2]}/{digest}-*")):
        try:
            write_one(storage, path, digest, target, above, sizes)
        except (OSError, ValueError) as error:
            problem = f"{path}: {error}"
            continue
        return
    raise ValueError(f"The content {digest} cannot be written: {problem}")


@contextlib.contextmanager
def create(target: Path) -> Iterator[BinaryIO]:
    """Write a file next to the target, which it replaces at the end: a link in its place is not followed.

    What could be written before an error stays, too.
    """
    part = target.with_name(f".{secrets.token_hex(16)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        with open(descriptor, "wb") as writer:
            yield writer
    finally:
        os.replace(part, target)


def write_one(
    storage: Path,
    path: Path,
    digest: str,
    target: Path,
    above: tuple[str, ...] = (),
    sizes: Mapping[str, int] = NO_SIZES,
) -> None:
    """Write the content of one object, which may be raw: then its own bytes have the digest."""
    if not path.is_file():
        raise ValueError("it is no file")  # a pipe would be waited for, and a device has no end
    with path.open("rb") as source, create(target) as writer:
        head = read_head(source)
        if head is None or head.get("sha256") != digest:
            copy(source, writer, room_for(path.stat().st_size, sizes.get(digest), target))
        else:
            codec = check_head(head, path.stat().st_size)
            if room_for(head["size"], sizes.get(digest), target) != head["size"]:
                raise ValueError(
                    f"it says that its content has {head['size']} bytes, which is more than its record says"
                )
            if codec == "zstd":
                decode(source, head, None, writer)
            else:
                with written_base(storage, head["base"], target, (*above, digest), sizes) as base:
                    decode(source, head, base, writer)
    found = hashlib.sha256()
    with target.open("rb") as written:
        for piece in iter(lambda: written.read(PIECE), b""):
            found.update(piece)
    if found.hexdigest() != digest:
        raise ValueError("its SHA-256 is wrong")


def room_for(size: int, known: int | None, target: Path) -> int:
    """Return how many of `size` bytes are written: at most the size that is known.

    Raises ValueError if the disk has no room for them.
    """
    size, free = size if known is None else min(size, known), shutil.disk_usage(target.parent).free
    if size > free:
        raise ValueError(f"its content would have {size} bytes, and {free} are free")
    return size


def copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    """Copy the first `size` bytes, fewer only at the end."""
    source.seek(0)
    while size > 0 and (piece := source.read(min(PIECE, size))):
        target.write(piece)
        size -= len(piece)


@contextlib.contextmanager
def written_base(
    storage: Path, digest: str, target: Path, above: tuple[str, ...], sizes: Mapping[str, int]
) -> Iterator[BinaryIO]:
    """Write the base of a content next to its target, and delete it at the end."""
    below = target.with_name(f"{target.name}.base")
    try:
        write(storage, digest, below, above, sizes)
        with below.open("rb") as base:
            yield base
    finally:
        with contextlib.suppress(FileNotFoundError):
            below.unlink()


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
