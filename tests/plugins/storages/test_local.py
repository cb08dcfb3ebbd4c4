"""The local storage meets the storage contract; further tests check errors of file systems."""

import os
import resource
import stat
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from frepo_core.plugins import BlobNotFound, ConfigurationError, StorageUnavailable, partial_name
from frepo_core.testing import Source, StorageContract
from frepo_storage_local import LocalSettings, LocalStorage
from support.scale import IS_BIG


def storage(root: Path, **settings) -> LocalStorage:
    return LocalStorage(LocalSettings(directory=root, **settings))


class TestLocalStorage(StorageContract):
    @pytest.fixture
    def list_size(self):
        return 5000 if IS_BIG else 500

    @pytest.fixture
    def backend(self, tmp_path):
        return storage(tmp_path / "root")

    @pytest.fixture
    def unavailable_backend(self, tmp_path):
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        return storage(tmp_path / "loop")

    @pytest.fixture
    def full_backend(self, tmp_path):
        """Files may not grow beyond 32 KiB."""
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (32 << 10, before[1]))
        yield storage(tmp_path / "root")
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    @pytest.fixture
    def driver_errors(self):
        return (OSError,)

    @pytest.fixture
    def offers_path(self):
        return True

    @pytest.fixture
    def memory_limit(self):
        return 8 << 20


def test_a_missing_required_root_is_reported_at_once(tmp_path):
    with pytest.raises(ConfigurationError, match="FS_LOCAL_DIRECTORY"):
        storage(tmp_path / "absent", lazy_root=False)


def test_a_root_that_is_a_file_is_reported_at_once(tmp_path):
    (tmp_path / "root").write_text("")

    for lazy_root in (True, False):
        with pytest.raises(ConfigurationError, match="root is not a directory"):
            storage(tmp_path / "root", lazy_root=lazy_root)


def test_a_file_where_a_folder_has_to_be_is_unavailable(tmp_path):
    backend = storage(tmp_path)
    (tmp_path / "folder").write_text("")

    with pytest.raises(StorageUnavailable, match="folder is not a directory"):
        backend.store("folder/key", Source(1).file, 1)


def all_unavailable(backend):
    """Check that no operation works on the storage, and that it is not listed as an empty one."""
    for operation in ("open", "stat", "delete", "path"):
        with pytest.raises(StorageUnavailable):
            getattr(backend, operation)("folder/key")
    with pytest.raises(StorageUnavailable):
        backend.store("folder/key", Source(1).file, 1)
    with pytest.raises(StorageUnavailable):
        list(backend.list())


def test_a_required_root_that_disappeared_is_unavailable(tmp_path):
    (tmp_path / "mount").mkdir()
    backend = storage(tmp_path / "mount", lazy_root=False)
    (tmp_path / "mount").rmdir()

    all_unavailable(backend)

    assert not (tmp_path / "mount").exists()


def test_a_lazy_root_that_is_no_directory_is_unavailable(tmp_path):
    of_file, of_link = storage(tmp_path / "file"), storage(tmp_path / "link")
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to(tmp_path / "unmounted" / "root")

    all_unavailable(of_file)
    all_unavailable(of_link)


def test_a_lazy_root_is_not_made_by_reading(tmp_path):
    assert [] == list(storage(tmp_path / "root").list())
    assert not (tmp_path / "root").exists()


def test_files_and_folders_get_the_permissions_of_the_settings(tmp_path):
    before = os.umask(0o077)
    try:
        backend = storage(tmp_path / "root", file_permissions="644", directory_permissions="755")
        backend.store("folder/key", Source(1).file, 1)
    finally:
        os.umask(before)

    modes = [stat.S_IMODE((tmp_path / "root" / name).stat().st_mode) for name in ("folder", "folder/key")]
    assert [0o755, 0o644] == modes


def test_a_partial_file_of_a_crash_is_not_a_blob(tmp_path):
    backend = storage(tmp_path)
    (tmp_path / ".partial-0011").write_bytes(b"half")

    assert [] == list(backend.list())
    with pytest.raises(BlobNotFound):
        backend.open(".partial-0011")


def test_a_failed_store_leaves_no_file(tmp_path):
    backend = storage(tmp_path)

    with pytest.raises(StorageUnavailable):
        backend.store("folder/key", Source(9).file, 10)

    assert [] == [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("key", ["link", "link/key"])
def test_a_link_is_not_followed(tmp_path, key):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_bytes(b"secret")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside" / ("" if "/" in key else "key"))

    with pytest.raises(BlobNotFound):
        storage(tmp_path / "root").open(key)


def test_a_pipe_instead_of_a_blob_is_none(tmp_path):
    """To open it must not wait for somebody who writes into it, and whoever does may never end."""
    os.mkfifo(tmp_path / "key")

    for look in ("open", "path", "stat"):
        with pytest.raises(BlobNotFound):
            getattr(storage(tmp_path), look)("key")


@pytest.mark.parametrize("target", ["/etc/passwd", "/etc"])
def test_a_link_below_the_root_is_refused_or_skipped_in_the_list(tmp_path, target):
    (tmp_path / "link").symlink_to(target)

    with pytest.raises(StorageUnavailable, match=r"fs\.local\.links"):
        list(storage(tmp_path, links="refuse").list())
    assert [] == list(storage(tmp_path, links="skip").list())


@pytest.mark.parametrize("walk", ["list", "tidy"])
def test_a_folder_that_disappears_during_the_listing_is_skipped(tmp_path, monkeypatch, walk):
    """The service removes folders that are empty after a deletion, also during a sweep."""
    backend, scandir = storage(tmp_path / "root"), os.scandir
    for key in ("ab/vanishes", "cd/stays"):
        backend.store(key, Source(5).file, 5)

    def vanish(path, *arguments):
        if str(path).endswith("ab"):
            backend.delete("ab/vanishes")
        return scandir(path, *arguments)

    monkeypatch.setattr(os, "scandir", vanish)
    calls = {"list": lambda: [stat.key for stat in backend.list()], "tidy": lambda: backend.tidy(datetime.now(UTC))}

    assert {"list": ["cd/stays"], "tidy": 0}[walk] == calls[walk]()


@pytest.fixture
def as_nobody():
    """A folder that a process without privileges can read; this process gives up its privileges."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        user = os.geteuid()

        def become_nobody() -> None:
            if user == 0:
                os.seteuid(65534)

        yield Path(folder), become_nobody
        os.seteuid(user)


def test_an_unreadable_foreign_folder_is_skipped(as_nobody):
    """Each ext4 disk has the folder `lost+found`, which belongs to root."""
    root, become_nobody = as_nobody
    (root / "ab").mkdir()
    (root / "ab" / "blob").write_bytes(b"x")
    (root / "lost+found").mkdir(mode=0o000)
    become_nobody()

    assert ["ab/blob"] == [found.key for found in storage(root).list()]
    assert 0 == storage(root).tidy(datetime.now(UTC))


def test_a_folder_of_blobs_that_may_not_be_read_is_not_an_empty_one(as_nobody):
    root, become_nobody = as_nobody
    (root / "ab").mkdir(mode=0o000)
    become_nobody()

    with pytest.raises(StorageUnavailable, match="Permission denied"):
        list(storage(root).list())


def test_tidying_up_deletes_only_partial_files_of_this_storage(tmp_path):
    left = ["ab/" + partial_name(), "cd/" + partial_name()]
    of_others = ["ab/.partial-download", partial_name(), "other-app/" + partial_name(), "ab/ab/" + partial_name()]
    for name in left + of_others:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"half")

    removed = storage(tmp_path).tidy(datetime.now(UTC) + timedelta(days=1))

    assert 2 == removed
    assert of_others == [name for name in left + of_others if (tmp_path / name).exists()]


def test_the_age_of_a_linked_blob_is_that_of_its_link(tmp_path):
    with os.fdopen(os.open(tmp_path, os.O_TMPFILE | os.O_RDWR), "r+b", buffering=0) as spooled:
        spooled.write(b"content")
        spooled.seek(0)
        os.utime(spooled.fileno(), (0, 0))
        backend = storage(tmp_path / "root")
        backend.store("ab/key", spooled, 7)

    assert datetime.now(UTC) - backend.stat("ab/key").modified < timedelta(minutes=1)
