"""The storage `sealed`: each blob is encrypted, and kept in the storage below under a name that shows no digest."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

from frepo_core.plugins import (
    BlobNotFound,
    BlobStat,
    ConfigurationError,
    ExactReader,
    StorageBackend,
    StorageUnavailable,
)

from .keys import KeyRing, is_sealed_name
from .segments import HEAD, SEGMENT, Head, Opening, Sealing, content_size, read_up_to, sealed_size

# So many names are tried with the keys at the start. A foreign file among them does not stop it.
TRIED = 20
Result = TypeVar("Result")


class SealedStorage(StorageBackend):
    """Encrypts blobs on their way to the storage below."""

    def __init__(self, below: StorageBackend, keys: KeyRing, *, key_file: Path) -> None:
        """`key_file` is where the keys are, for messages."""
        self._below, self._keys, self.key_file = below, keys, key_file
        self._has_right_keys = False

    def require_right_keys(self) -> None:
        """Raise `ConfigurationError` if the storage below has blobs, and none of them is one of these keys.

        Do nothing if that storage does not answer: it says nothing about the keys. The first `store` tries again.
        """
        with contextlib.suppress(StorageUnavailable):
            self._find_right_keys()

    def _find_right_keys(self) -> None:
        names = self._sealed_names(TRIED)
        if names and not any(self._keys.blob_key(name) for name in names):
            ids = ", ".join(key.id.hex() for key in self._keys.keys)
            raise ConfigurationError(
                f"The keys in {self.key_file} ({ids}) are not those of the sealed storage: none of its names can be "
                "read with them. Put the right key there"
            )
        self._has_right_keys = True

    def count_foreign(self, tried: int) -> tuple[int, int]:
        """Return how many of the first blobs below none of the keys can read, and how many were tried."""
        names = self._sealed_names(tried)
        return sum(self._keys.blob_key(name) is None for name in names), len(names)

    def _sealed_names(self, count: int) -> list[str]:
        try:
            return list(islice((stat.key for stat in self._below.list() if is_sealed_name(stat.key)), count))
        except BlobNotFound:  # a folder or a bucket that is not there yet
            return []

    def store(self, key: str, content: BinaryIO, size: int) -> None:
        """Encrypt it with the first key, and store it below."""
        if not self._has_right_keys:
            try:
                self._find_right_keys()
            except ConfigurationError as error:
                raise StorageUnavailable(str(error)) from error
        name = self._keys.first.name(key)
        sealing = Sealing(Head.make(self._keys.first, name, size), content)
        self._below.store(name, cast(BinaryIO, sealing), sealed_size(size))

    def open(self, key: str, start: int = 0, length: int | None = None) -> BinaryIO:
        """Open it below, and decrypt the segments that are asked for."""
        return self._with_name(key, lambda name: self._open(name, start, length))

    def _open(self, name: str, start: int, length: int | None) -> BinaryIO:
        is_whole = start == 0 and length is None
        with contextlib.ExitStack() as on_error:
            below = self._below.open(name, 0, None if is_whole else HEAD)
            on_error.callback(below.close)
            head = Head.parse(read_up_to(below, HEAD), self._keys, name)
            end = head.size if length is None else min(start + length, head.size)
            # Without a segment, nothing says that the size in the head is right: the last one is decrypted then.
            first, last = (start // SEGMENT, (end - 1) // SEGMENT) if start < end else (head.last, head.last)
            if not is_whole:
                on_error.close()
                below = self._below.open(name, *head.place(first, last))
                on_error.callback(below.close)
            opening = Opening(head, below, first, skipped=start % SEGMENT)
            if start >= end:
                opening.read(SEGMENT)
            on_error.pop_all()
        return cast(BinaryIO, ExactReader(lambda _, wanted: opening.read(wanted), max(0, end - start), below.close))

    def delete(self, key: str) -> None:
        """Delete it below, under the name of each key."""
        for name in self._keys.names(key):
            self._below.delete(name)

    def stat(self, key: str) -> BlobStat:
        """Return time and size; the latter is computed."""
        return self._plain(self._with_name(key, self._below.stat), key)

    def list(self) -> Iterator[BlobStat]:
        """Yield the blobs whose names one of the keys has made, and what has a name of its own."""
        for stat in self._below.list():
            if (key := self._keys.blob_key(stat.key)) is not None:
                yield self._plain(stat, key)

    def retain(self, key: str, until: datetime) -> bool:
        """Keep it below."""
        return self._with_name(key, lambda name: self._below.retain(name, until))

    def break_retention(self, key: str) -> Sequence[str]:
        """Try it below."""
        return self._with_name(key, self._below.break_retention)

    def server(self) -> str:
        """Return that of the storage below."""
        return self._below.server()

    def tidy(self, before: datetime) -> int:
        """Delete the remains of unfinished uploads below."""
        return self._below.tidy(before)

    def close(self) -> None:
        """Release the connections below."""
        self._below.close()

    def free_space(self) -> int | None:
        """Return the room below in bytes."""
        return self._below.free_space()

    def total_space(self) -> int | None:
        """Return the size of the storage below in bytes."""
        return self._below.total_space()

    def seal_anew(self, progress: Callable[[int], None]) -> int:
        """Encrypt what has the name of another key with the first one; return how many blobs that were.

        Each is stored and read back before its old object is deleted, so this can be interrupted and repeated.
        `progress` is called with the number of blobs after each.
        """
        count = 0
        for stat in self._below.list():
            key = self._keys.blob_key(stat.key)
            if key is None or not is_sealed_name(stat.key) or self._keys.first.name(key) == stat.key:
                continue
            self._seal_anew(key, stat.key)
            count += 1
            progress(count)
        return count

    def _seal_anew(self, key: str, old: str) -> None:
        new, size = self._keys.first.name(key), content_size(self._below.stat(old).size)
        try:
            self._below.stat(new)
        except BlobNotFound:
            with self._open(old, 0, None) as content:
                self.store(key, content, size)
        with self._open(new, 0, None) as first, self._open(old, 0, None) as second:
            while (piece := read_up_to(second, SEGMENT)) or size == 0:
                if read_up_to(first, SEGMENT) != piece:
                    raise StorageUnavailable(f"The blob {key} differs after it was sealed anew; the old one is kept")
                if not piece:
                    break
        self._below.delete(old)

    def _with_name(self, key: str, call: Callable[[str], Result]) -> Result:
        *others, last = self._keys.names(key)
        for name in others:
            try:
                return call(name)
            except BlobNotFound:
                continue
        return call(last)

    def _plain(self, stat: BlobStat, key: str) -> BlobStat:
        return replace(stat, key=key, size=content_size(stat.size))
