"""The storage contract, part 1: stored blobs can be read, whole and in ranges."""

import tracemalloc
from contextlib import ExitStack
from io import BytesIO
from itertools import product

import pytest

from frepo_core.plugins import BlobNotFound, StorageBackend

from ._storage_fixtures import KEY, StorageFixtures, put
from .sources import CHUNK, Source, digest, pattern

SIZE = 100_000


def _read(backend: StorageBackend, start: int, length: int | None) -> bytes:
    with backend.open(KEY, start, length) as blob:
        return blob.read()


class ReadingContract(StorageFixtures):
    """Reading whole blobs and ranges."""

    def test_a_blob_is_read_as_it_was_stored(self, backend: StorageBackend) -> None:
        """The sizes include an empty blob and a blob of one byte."""
        for size in (0, 1, SIZE, 3 << 20):
            put(backend, f"of/{size}", pattern(0, size))

            with backend.open(f"of/{size}") as blob:
                assert pattern(0, size) == blob.read()

    def test_a_part_is_read_from_start_on(self, backend: StorageBackend) -> None:
        """The length None reads to the end, and a range that goes past the end stops there."""
        put(backend, KEY, pattern(0, SIZE))
        within = [(0, 10), (10, 1), (10, 50_000), (0, SIZE), (SIZE - 1, 1), (5, 0), (70_000, None), (SIZE - 1, None)]

        for start, length in [*within, (SIZE - 10, 11), (SIZE - 10, SIZE)]:
            expected = pattern(start, min(SIZE - start, SIZE if length is None else length))
            assert expected == _read(backend, start, length), (start, length)

    def test_a_part_that_begins_at_or_past_the_end_is_empty(self, backend: StorageBackend) -> None:
        """Like a file, it returns no bytes and raises no error."""
        for size in (SIZE, 0):
            put(backend, KEY, pattern(0, size))

            for start, length in product([size, size + 1000], [0, 1, None]):
                assert _read(backend, start, length) == b"", (start, length)

    def test_small_reads_give_the_same_bytes(self, backend: StorageBackend) -> None:
        """`read` may return fewer bytes than requested, never more. It returns none only at the end."""
        put(backend, KEY, pattern(0, SIZE))
        pieces = []

        with backend.open(KEY) as blob:
            while piece := blob.read(777):
                pieces.append(piece)

        assert max(map(len, pieces)) <= 777
        assert pattern(0, SIZE) == b"".join(pieces)

    def test_an_absent_blob_is_missed_when_it_is_opened(
        self, backend: StorageBackend, driver_errors: tuple[type[BaseException], ...]
    ) -> None:
        """`open` raises the error, before a status line is sent."""
        for start, length in [(0, None), (5, None), (5, 10), (0, 0)]:
            with pytest.raises(BlobNotFound) as caught:
                backend.open(KEY, start, length)

            assert isinstance(caught.value.__cause__, driver_errors)

    def test_several_readers_do_not_disturb_each_other(self, backend: StorageBackend) -> None:
        """Open readers of one blob, or of several, are independent."""
        put(backend, "a", pattern(0, SIZE))
        put(backend, "b", pattern(7, SIZE))

        with backend.open("a") as first, backend.open("b") as second, backend.open("a", 10) as third:
            found = [first.read(100), second.read(100), third.read(100), first.read(100)]

        assert [len(piece) for piece in found] == [100, 100, 100, 100]
        assert found == [pattern(0, 100), pattern(7, 100), pattern(10, 100), pattern(100, 100)]

    def test_readers_that_are_closed_early_leave_nothing_behind(self, backend: StorageBackend) -> None:
        """A client that disconnects during a download does not use up a connection."""
        put(backend, KEY, pattern(0, 3 << 20))
        for _ in range(20):
            with backend.open(KEY) as blob:
                blob.read(10)

        with ExitStack() as stack:
            found = [stack.enter_context(backend.open(KEY, start, 5)).read() for start in (1, 2)]

        assert [pattern(1, 5), pattern(2, 5)] == found

    def test_a_large_blob_passes_in_bounded_memory(
        self, backend: StorageBackend, large_size: int, memory_limit: int
    ) -> None:
        """Neither storing nor reading keeps the blob in memory. What Python allocates in all threads is measured."""
        expected = digest(Source(large_size))
        tracemalloc.start()
        try:
            backend.store(KEY, Source(large_size).file, large_size)
            with backend.open(KEY) as blob:
                found = digest(blob)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert expected == found
        assert peak <= memory_limit

    def test_a_part_of_a_large_blob_is_read_in_bounded_memory(
        self, backend: StorageBackend, large_size: int, memory_limit: int
    ) -> None:
        """A range is streamed like the whole blob, and starts at the right byte far into the blob."""
        backend.store(KEY, Source(large_size).file, large_size)
        tracemalloc.start()
        try:
            with backend.open(KEY, large_size - CHUNK) as blob:
                found = digest(blob)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()

        assert digest(BytesIO(pattern(large_size - CHUNK, CHUNK))) == found
        assert peak <= memory_limit
