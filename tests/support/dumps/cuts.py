"""Cuts a whole backup: where a connection breaks, where a disk is full, and where its program is killed."""

import gzip
import lzma
import random
from collections.abc import Iterator

from support.compressors import zstd

from .sample import Sample

LAST = 64 << 10
# What is larger is packed by gzip only, and cut less often.
LARGE = 1 << 20
SUFFIXES = {"gzip": ".gz", "zstd": ".zst", "xz": ".xz"}


def pack(content: bytes, program: str) -> bytes:
    """Compress, as fast as possible."""
    if program == "xz":
        return lzma.compress(content, preset=0)
    return gzip.compress(content, 1, mtime=0) if program == "gzip" else zstd.compress(content, 1)


def packers(content: bytes) -> list[str]:
    """Return the compressions for a content of this size."""
    return ["gzip"] if len(content) > LARGE else list(SUFFIXES)


def cuts_at_60_percent(content: bytes) -> list[bytes]:
    """Return five contents that are cut there, at a block and elsewhere."""
    middle = len(content) * 6 // 10
    return [content[:size] for size in (middle, middle + 1, middle + 7, middle // 512 * 512, middle // 4096 * 4096)]


def cuts_near_the_end(content: bytes) -> list[bytes]:
    """Return sixteen contents that are cut within the last 64 KiB, evenly spread."""
    room = min(LAST, len(content) * 4 // 10)
    chance = random.Random(len(content))
    return [content[: -max(1, (room * step + chance.randrange(room)) // 16)] for step in range(16)]


def killed(sample: Sample) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the contents that a killed program leaves, with a compression that ended as it should."""
    content = sample.content
    if sample.killed is None:
        return
    parts = sample.killed
    if not parts:
        chance = random.Random(len(content))
        times = 2 if len(content) > LARGE else 12
        parts = [content[: len(content) * (step + 1) // (times + 1) + chance.randrange(500)] for step in range(times)]
    for number, part in enumerate(parts):
        for program in packers(part)[number % 3 :][:1] or ["gzip"]:
            yield sample.file_name + SUFFIXES[program], pack(part, program)


def whole(sample: Sample) -> Iterator[tuple[str, bytes]]:
    """Yield the names and the contents of a whole backup: as it is, in each compression, in two of them."""
    yield sample.file_name, sample.content
    for program in packers(sample.content):
        yield sample.file_name + SUFFIXES[program], pack(sample.content, program)
    if len(sample.content) <= LARGE:
        yield f"{sample.file_name}.gz", pack(sample.content, "gzip") + b"\n"
        yield f"{sample.file_name}.gz.gz", pack(pack(sample.content, "gzip"), "gzip")
