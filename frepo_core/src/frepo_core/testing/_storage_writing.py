"""The storage contract, part 2: a blob is stored as a whole or not at all, and deletion is final."""

import io
from concurrent.futures import ThreadPoolExecutor
from typing import BinaryIO, cast

import pytest

from frepo_core.plugins import BlobNotFound, StorageBackend, StorageError

from ._storage_fixtures import KEY, StorageFixtures, fails, put
from .sources import Source, digest, pattern

SIZES = [1000, 20 << 20]

ODD_KEYS = [
    "a",
    "0",
    "a/b/c/d/e/f/g",
    "UPPER/lower",
    "-dash",
    "_",
    ".dot",
    "...",
    "two..dots",
    "dot.at.end.",
    "ab/" + "f" * 64 + "-" + "0" * 32,
    "long/" + "k" * 200,
]

NO_KEYS = ["", "/absolute", "folder/", "two//slashes", "..", "../outside", "a/../../outside", "./here", "a/."]


class ClientWentAwayError(OSError):
    """An error of a broken upload: an `OSError` that the storage did not cause."""


class _OwnRead(io.RawIOBase):
    """The test content as a raw stream that overrides only `read`."""

    def __init__(self, size: int) -> None:
        self._source = Source(size)

    def read(self, size: int | None = -1, /) -> bytes:
        """Return at most `size` bytes."""
        return self._source.read(-1 if size is None else size)


def _read(backend: StorageBackend, key: str) -> bytes:
    with backend.open(key) as blob:
        return blob.read()


def _go_away() -> None:
    raise ClientWentAwayError("the client went away")


class WritingContract(StorageFixtures):
    """Storing and deleting blobs."""

    def test_an_odd_key_is_kept_as_it_is(self, backend: StorageBackend) -> None:
        """`list` returns the key unchanged, and `open` finds it."""
        for key in ODD_KEYS:
            put(backend, key, key.encode())

            assert key.encode() == _read(backend, key)
            assert [key] == [stat.key for stat in backend.list()]
            backend.delete(key)

    def test_keys_that_resemble_each_other_are_different(self, backend: StorageBackend) -> None:
        """Keys that differ in case, or share a prefix or a folder, name different blobs."""
        keys = ["k", "K", "k.", "k-1", "kk", "f/k", "f/K", "f/kk", "f.k"]
        for key in keys:
            put(backend, key, key.encode())

        found = {key: _read(backend, key) for key in keys}

        assert {key: key.encode() for key in keys} == found

    def test_what_is_no_key_is_refused(self, backend: StorageBackend) -> None:
        """An invalid key could name a file outside of the storage's root."""
        refused = [key for key in NO_KEYS if fails(StorageError, put, backend, key, b"outside")]

        assert NO_KEYS == refused
        assert [] == list(backend.list())

    def test_what_is_no_key_names_no_blob(self, backend: StorageBackend) -> None:
        """No file outside of the storage's root can be read."""
        assert NO_KEYS == [key for key in NO_KEYS if fails(BlobNotFound, backend.open, key)]

    @pytest.mark.parametrize("size", SIZES)
    def test_a_source_may_give_fewer_bytes_than_asked_for(self, backend: StorageBackend, size: int) -> None:
        """A socket may do this; only an empty result is the end."""
        backend.store(KEY, Source(size, step=9973).file, size)

        with backend.open(KEY) as blob:
            assert digest(Source(size)) == digest(blob)

    @pytest.mark.parametrize("size", SIZES)
    def test_a_source_is_read_as_its_class_says_last(self, backend: StorageBackend, size: int) -> None:
        """A subclass of an `io` class may override `read` and not `readinto`."""
        backend.store(KEY, cast(BinaryIO, _OwnRead(size)), size)

        with backend.open(KEY) as blob:
            assert digest(Source(size)) == digest(blob)

    @pytest.mark.parametrize("size", SIZES)
    def test_a_source_that_fails_half_way_leaves_nothing(self, backend: StorageBackend, size: int) -> None:
        """An exception of the source is not wrapped: the storage did not fail."""
        with pytest.raises(ClientWentAwayError):
            backend.store(KEY, Source(size, at=size // 2, do=_go_away).file, size)

        assert [] == list(backend.list())

    @pytest.mark.parametrize("size", SIZES)
    def test_a_source_that_fails_at_its_end_leaves_nothing(self, backend: StorageBackend, size: int) -> None:
        """A wrong digest is known only when all bytes were read."""
        with pytest.raises(ClientWentAwayError):
            backend.store(KEY, Source(size, at=size, do=_go_away).file, size)

        assert [] == list(backend.list())

    def test_a_source_of_another_size_is_refused_and_leaves_nothing(self, backend: StorageBackend) -> None:
        """The source has one byte less, or one more, than its declared size; this may be 0."""
        for declared, size in [(0, 1), *((size, size + difference) for size in SIZES for difference in (-1, 1))]:
            assert fails(StorageError, backend.store, KEY, Source(size).file, declared), (declared, size)
            assert [] == list(backend.list())

    def test_a_source_that_is_too_long_is_not_read_to_its_end(self, backend: StorageBackend) -> None:
        """An endless source must not fill the storage."""
        source = Source(256 << 20)

        with pytest.raises(StorageError):
            backend.store(KEY, source.file, 1000)

        assert source.position <= 16 << 20

    def test_a_store_that_failed_can_be_repeated(self, backend: StorageBackend) -> None:
        """The same backend stores the content under the same key."""
        with pytest.raises(ClientWentAwayError):
            backend.store(KEY, Source(1000, at=500, do=_go_away).file, 1000)

        backend.store(KEY, Source(1000).file, 1000)

        assert [(KEY, 1000)] == [(stat.key, stat.size) for stat in backend.list()]

    @pytest.mark.parametrize("size", SIZES)
    def test_a_blob_is_not_seen_before_it_is_whole(self, backend: StorageBackend, size: int) -> None:
        """While its bytes arrive, `list` and `stat` do not find it."""
        seen: list[str] = []

        def look() -> None:
            seen.extend(stat.key for stat in backend.list())
            with pytest.raises(BlobNotFound):
                backend.stat(KEY)

        backend.store(KEY, Source(size, at=size // 2, do=look).file, size)

        assert [] == seen

    def test_stores_and_reads_go_on_at_the_same_time(self, backend: StorageBackend) -> None:
        """One backend object serves many threads."""
        sizes = [(40_001 * number) % 300_007 for number in range(32)]

        def round_trip(number: int) -> tuple[int, str]:
            backend.store(f"t{number % 4}/{number}", Source(sizes[number]).file, sizes[number])
            with backend.open(f"t{number % 4}/{number}") as blob:
                return digest(blob)

        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(round_trip, range(32)))

        assert [digest(Source(size)) for size in sizes] == found

    def test_stores_and_deletes_in_one_folder_do_not_disturb_each_other(self, backend: StorageBackend) -> None:
        """An empty folder may be removed, unless another thread is storing a blob in it."""

        def come_and_go(number: int) -> None:
            put(backend, f"shared/{number}", b"content")
            backend.delete(f"shared/{number}")

        with ThreadPoolExecutor(2) as pool:
            for _ in pool.map(come_and_go, range(200)):
                pass

        assert [] == list(backend.list())

    def test_a_deleted_blob_is_gone(self, backend: StorageBackend) -> None:
        """It is not found; the other blob in its folder is."""
        put(backend, "a/gone", b"1")
        put(backend, "a/stays", b"2")

        backend.delete("a/gone")

        assert ["a/stays"] == [stat.key for stat in backend.list()]
        with pytest.raises(BlobNotFound):
            backend.open("a/gone")

    def test_a_blob_is_deleted_twice_without_an_error(self, backend: StorageBackend) -> None:
        """Deleting a key that was never stored raises no error either."""
        put(backend, KEY, pattern(0, 5))

        for key in (KEY, KEY, "never/was"):
            backend.delete(key)

        assert [] == list(backend.list())
