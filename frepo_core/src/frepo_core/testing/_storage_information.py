"""The storage contract, part 3: information about blobs, and errors."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote
from urllib.request import urlopen

import pytest

from frepo_core.plugins import BlobNotFound, BlobStat, StorageBackend, StorageFull, StorageUnavailable

from ._storage_fixtures import KEY, StorageFixtures, put
from .sources import pattern

CLOCK_DIFFERENCE = timedelta(minutes=2)

OPERATIONS: dict[str, Callable[[StorageBackend], object]] = {
    "store": lambda backend: put(backend, KEY, b"content"),
    "open": lambda backend: backend.open(KEY),
    "delete": lambda backend: backend.delete(KEY),
    "stat": lambda backend: backend.stat(KEY),
    "list": lambda backend: list(backend.list()),
    "check": lambda backend: backend.check(),
}


class InformationContract(StorageFixtures):
    """Sizes, times, lists, URLs, paths and errors."""

    def test_stat_tells_the_size(self, backend: StorageBackend) -> None:
        """The size is in bytes, and the key is that of the call."""
        sizes = {"empty": 0, "a/byte": 1, "a/blob": 100_000}
        for key, size in sizes.items():
            put(backend, key, pattern(0, size))

        stats = [backend.stat(key) for key in sizes]

        assert sizes == {stat.key: stat.size for stat in stats}

    def test_stat_tells_the_time_in_utc(self, backend: StorageBackend) -> None:
        """The time is aware and that of `store`; the storage's clock may differ by two minutes."""
        put(backend, KEY, b"content")

        modified = backend.stat(KEY).modified

        assert modified.utcoffset() == timedelta(0)
        assert abs(modified - datetime.now(UTC)) < CLOCK_DIFFERENCE

    def test_stat_misses_an_absent_blob(
        self, backend: StorageBackend, driver_errors: tuple[type[BaseException], ...]
    ) -> None:
        """The driver's exception is the cause."""
        with pytest.raises(BlobNotFound) as caught:
            backend.stat(KEY)

        assert isinstance(caught.value.__cause__, driver_errors)

    def test_a_folder_is_no_blob(self, backend: StorageBackend) -> None:
        """A folder of keys cannot be read as a blob."""
        put(backend, "folder/blob", b"content")

        for read in (backend.open, backend.stat):
            with pytest.raises(BlobNotFound):
                read("folder")

    def test_a_blob_is_no_folder(self, backend: StorageBackend) -> None:
        """A key below the key of a blob does not exist; deleting it deletes nothing."""
        put(backend, "folder", b"content")

        backend.delete("folder/blob")

        for read in (backend.open, backend.stat):
            with pytest.raises(BlobNotFound):
                read("folder/blob")
        assert ["folder"] == [stat.key for stat in backend.list()]

    def test_an_empty_storage_lists_nothing(self, backend: StorageBackend) -> None:
        """This includes a storage in which no blob was ever stored."""
        assert [] == list(backend.list())

    def test_every_blob_is_listed_once(self, backend: StorageBackend, list_size: int) -> None:
        """The list is longer than one page of any protocol, and has each size."""
        expected = {f"{number % 100:02}/{number:05}": number % 3 for number in range(list_size)}
        with ThreadPoolExecutor(8) as pool:
            for _ in pool.map(lambda item: put(backend, item[0], pattern(0, item[1])), expected.items()):
                pass

        found = [(stat.key, stat.size) for stat in backend.list()]

        assert sorted(expected.items()) == sorted(found)

    def test_the_list_says_what_stat_says(self, backend: StorageBackend) -> None:
        """The times agree to the second."""
        put(backend, KEY, b"content")

        assert [_to_the_second(backend.stat(KEY))] == [_to_the_second(stat) for stat in backend.list()]

    def test_the_check_of_a_working_storage_leaves_nothing(self, backend: StorageBackend) -> None:
        """The probe is deleted."""
        backend.check()

        assert [] == list(backend.list())

    def test_a_url_gives_the_blob_with_type_and_name_where_offered(
        self, backend: StorageBackend, offers_url: bool
    ) -> None:
        """The answer has the content type and the file name of the call, with all characters of the name."""
        name = 'żółw "1"; x.sql'
        put(backend, KEY, b"content")

        url = backend.url(KEY, expires=60, filename=name, content_type="application/sql")

        assert ((b"content", "application/sql", name) if offers_url else None) == (url and _fetch(url))

    def test_a_path_is_the_file_where_offered(self, backend: StorageBackend, offers_path: bool) -> None:
        """The local file has the blob's bytes and nothing else."""
        put(backend, KEY, b"content")

        path = backend.path(KEY)

        assert (b"content" if offers_path else None) == (path and path.read_bytes())

    def test_the_free_space_is_a_number_of_bytes_or_unknown(self, backend: StorageBackend) -> None:
        """None says that the storage cannot tell, or has no limit."""
        put(backend, KEY, b"content")

        free = backend.free_space()

        assert free is None or (type(free) is int and free >= 0)

    def test_the_total_space_is_at_least_the_free_space_or_unknown(self, backend: StorageBackend) -> None:
        """None says that the storage cannot tell, or has no limit."""
        put(backend, KEY, b"content")

        total = backend.total_space()

        assert total is None or (type(total) is int and total >= (backend.free_space() or 0))

    def test_a_storage_that_does_not_answer_is_unavailable(
        self, unavailable_backend: StorageBackend, driver_errors: tuple[type[BaseException], ...]
    ) -> None:
        """No blob may look missing and no list empty, because `storage:sweep` would delete records."""
        for name, operation in OPERATIONS.items():
            with pytest.raises(StorageUnavailable) as caught:
                operation(unavailable_backend)

            assert isinstance(caught.value.__cause__, driver_errors), name

    def test_a_storage_without_room_is_full(
        self, full_backend: StorageBackend, driver_errors: tuple[type[BaseException], ...]
    ) -> None:
        """The error is `StorageFull`, not a failure of the storage, and no blob is stored."""
        with pytest.raises(StorageFull) as caught:
            put(full_backend, KEY, pattern(0, 64 << 10))

        assert isinstance(caught.value.__cause__, driver_errors)
        assert KEY not in [stat.key for stat in full_backend.list()]


def _to_the_second(stat: BlobStat) -> BlobStat:
    return BlobStat(key=stat.key, size=stat.size, modified=stat.modified.replace(microsecond=0))


def _fetch(url: str) -> tuple[bytes, str, str | None]:
    with urlopen(url, timeout=30) as answer:  # noqa: S310  # the backend's own URL
        return answer.read(), answer.headers["Content-Type"], _file_name(answer.headers["Content-Disposition"])


def _file_name(disposition: str) -> str | None:
    """Return the name that a browser uses: `filename*` takes precedence over `filename` (RFC 6266, 4.3)."""
    extended = re.search(r"filename\*=UTF-8''([^;]*)", disposition)
    plain = re.search(r'filename="([^"]*)"', disposition)
    return unquote(extended[1]) if extended else plain and plain[1]
