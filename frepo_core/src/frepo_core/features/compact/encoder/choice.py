"""Chooses how a content is stored: raw, compressed, or as the difference to another one."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import BinaryIO, cast

from frepo_core.domain.structs import struct
from frepo_core.errors import DamagedObjectError

from ..encodings.decoder import DecodedContent
from ..encodings.format import DELTA, LARGE_SEGMENT, ZSTD, Head, checksum, read_fully, read_head, unpack_entry
from ..encodings.frames import LEVEL, compress
from .base_index import BaseIndex
from .encoder import Base, encode
from .tasks import ObjectFile, Task

LEAST_SAVED = 0.2
# A difference that is larger than this part of its content is compared with the compressed content.
GOOD_DELTA = 0.2
# What compressing would save is estimated by so many segments, or each sixteenth of more, with each of these levels:
# level 3 makes archives 7 % smaller than level 1, and some dumps 4 % larger.
SAMPLES, EACH = 8, 16
LEVELS = (1, 3)
RAW = "raw"


def check_object(stored: BinaryIO, digest: str) -> str:
    """Return the SHA-256 (hex) of the object of the content `digest`. It has to lie as `encode` writes it.

    Its frames were decoded before: here, each must be in its place, and have the same bytes still.
    Raises `DamagedObjectError`.
    """
    head = read_head(stored, digest)
    if stored.seek(0, os.SEEK_END) != head.stored:
        raise DamagedObjectError(digest, f"it has not {head.stored} bytes")
    stored.seek(0)
    start = read_fully(stored, head.data)
    sha256, position = hashlib.sha256(start), head.data
    for index in range(head.count):
        place = head.table + index * head.entry_size
        entry = unpack_entry(start[place : place + head.entry_size], head, index)
        frame = read_fully(stored, entry.length)
        if entry.offset != position or checksum(frame) != entry.checksum:
            raise DamagedObjectError(digest, "its bytes are wrong", segment=index)
        sha256.update(frame)
        position += entry.length
    if position != head.stored:
        raise DamagedObjectError(digest, f"it has {head.stored - position} bytes more than its segments")
    return sha256.hexdigest()


@struct
class Outcome:
    """The codec of the object in the target, and its SHA-256 (hex). `raw`: nothing saves enough, and there is none.

    `sketch` is that of the content, if only that was wanted.
    """

    codec: str
    digest: str = ""
    sketch: list[int] = field(default_factory=list)


class Choice:
    """Encodes one content after the other. It remembers the last base, of which several contents may be differences."""

    def __init__(self) -> None:
        self._index: BaseIndex | None = None

    def choose(self, task: Task, keep_going: Callable[[], None]) -> Outcome:
        """Write the object that saves most to the target; none if no one saves 20 %.

        A difference makes a content depend on another one, so it must save 20 % against the compressed content.
        A content that is to be raw is decoded instead. Raises what `encode` and a `DecodedContent` raise.
        """
        if task.is_sketched:
            index = self._read(task.content, task.size, task.content[0].digest, keep_going)
            return Outcome(codec=RAW, sketch=index.sketch)
        if task.is_raw:
            return _decode(task, keep_going)
        delta = self._encode_delta(task, keep_going) if task.base else None
        if delta is not None and delta.stored <= task.size * GOOD_DELTA:
            return _check(task, DELTA)
        most = task.size * (1 - LEAST_SAVED)
        alone, level = _estimate(task, keep_going)
        if delta is not None and delta.stored <= min(most, alone * (1 - LEAST_SAVED)):
            return _check(task, DELTA)
        if alone > most or _encode(task, keep_going, None, level).stored > most:
            return Outcome(codec=RAW)
        return _check(task, ZSTD)

    def _encode_delta(self, task: Task, keep_going: Callable[[], None]) -> Head:
        digest = task.base[0].digest
        index = self._read(task.base, task.base_size, task.content[0].digest, keep_going)
        with _open(task.base) as content:
            return _encode(task, keep_going, Base(content=content, digest=digest, size=task.base_size, index=index))

    def _read(self, objects: list[ObjectFile], size: int, dependent: str, keep_going: Callable[[], None]) -> BaseIndex:
        """Read a content from start to end, unless it was read last: the newest one is sketched, then it is a base."""
        digest = objects[0].digest
        if self._index is None or self._index.digest != digest:
            self._index = None
            with _open(objects) as content:
                self._index = BaseIndex.read(
                    content, digest=digest, size=size, dependent=dependent, keep_going=keep_going
                )
        return self._index


def _encode(task: Task, keep_going: Callable[[], None], base: Base | None, level: int = LEVEL) -> Head:
    digest = task.content[0].digest
    with _open(task.content) as content, Path(task.target).open("w+b") as file:
        return encode(
            content,
            file,
            digest=digest,
            size=task.size,
            base=base,
            level=level,
            has_windows=task.has_windows,
            keep_going=keep_going,
        )


def _estimate(task: Task, keep_going: Callable[[], None]) -> tuple[float, int]:
    """Return about how many bytes the content takes if it is compressed, by some of its segments, and the level."""
    count = -(-task.size // LARGE_SEGMENT)
    samples = min(count, max(SAMPLES, count // EACH))
    read, stored = 0, dict.fromkeys(LEVELS, 0)
    with _open(task.content) as content:
        for number in range(samples):
            keep_going()
            content.seek(number * count // samples * LARGE_SEGMENT)
            segment = read_fully(content, LARGE_SEGMENT)
            read += len(segment)
            for level in LEVELS:
                stored[level] += len(compress(segment, None, level))
    best = min(LEVELS, key=lambda level: stored[level])
    return (task.size * stored[best] / read if read else 0.0), best


def _decode(task: Task, keep_going: Callable[[], None]) -> Outcome:
    """Write the content itself to the target, and compare its SHA-256."""
    digest, size = hashlib.sha256(), 0
    with _open(task.content) as content, Path(task.target).open("wb") as file:
        while data := read_fully(content, LARGE_SEGMENT):
            keep_going()
            digest.update(data)
            file.write(data)
            size += len(data)
    if (digest.hexdigest(), size) != (task.content[0].digest, task.size):
        raise DamagedObjectError(task.content[0].digest, "its bytes are not its own")
    return Outcome(codec=RAW, digest=digest.hexdigest())


def _check(task: Task, codec: str) -> Outcome:
    with Path(task.target).open("rb") as file:
        return Outcome(codec=codec, digest=check_object(file, task.content[0].digest))


def _open(objects: list[ObjectFile]) -> BinaryIO:
    """Open a content. Its SHA-256 is not compared here: `encode` and `BaseIndex.read` do that."""
    first, bases = objects[0], objects[1:]
    file = Path(first.path).open("rb")  # noqa: SIM115  # the caller closes it
    if first.encoding == RAW:
        return file
    try:
        content = DecodedContent(file, digest=first.digest, open_base=lambda _: _open(bases), is_base=True)
    except BaseException:
        file.close()
        raise
    return cast(BinaryIO, content)
