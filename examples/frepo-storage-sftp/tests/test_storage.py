"""The storage meets frepo's contract on OpenSSH's server; further tests check errors of SFTP."""

import os
import signal
import subprocess
from io import BytesIO
from pathlib import Path

import pytest
from paramiko import SSHException
from pydantic import ValidationError

from frepo_core.plugins import BlobNotFound, StorageUnavailable
from frepo_core.testing import Source, StorageContract
from frepo_storage_sftp.backend import SftpStorage
from sshd import NOT_INSTALLED, PASSPHRASE, SSHD, descendants, free_port

if SSHD is None:  # one line, rather than one for each test
    pytest.skip(NOT_INSTALLED, allow_module_level=True)


class TestSftpStorage(StorageContract):
    @pytest.fixture
    def backend(self, storage):
        return storage

    @pytest.fixture
    def unavailable_backend(self, settings):
        return SftpStorage(settings(port=free_port()))

    @pytest.fixture
    def full_backend(self, settings, tmp_path):
        mount = ["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", tmp_path]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            pytest.skip("a full disk cannot be mounted here")
        yield SftpStorage(settings(directory=str(tmp_path)))
        subprocess.run(["umount", "--lazy", tmp_path], check=True)

    @pytest.fixture
    def driver_errors(self):
        return (OSError, EOFError, SSHException)

    @pytest.fixture
    def list_size(self):
        """Storing a blob takes a dozen requests."""
        return 300

    @pytest.fixture
    def large_size(self):
        """Encrypting the transfer takes long; the blob is still larger than the memory that it may use."""
        return 40 << 20


def cut_connections(sshd):
    """End every session, as a firewall or a restart of the server does."""
    for pid in descendants(sshd.process.pid):
        os.kill(pid, signal.SIGKILL)


def test_a_connection_that_was_cut_is_replaced(storage, sshd):
    storage.store("key", BytesIO(b"content"), 7)
    cut_connections(sshd)

    assert storage.stat("key").size == 7


def test_a_connection_that_is_cut_while_reading_is_an_error(storage, sshd):
    storage.store("key", Source(20 << 20).file, 20 << 20)

    with storage.open("key") as blob:
        blob.read(1)
        cut_connections(sshd)
        with pytest.raises(StorageUnavailable):
            blob.read()


def test_a_blob_that_shrinks_while_it_is_read_is_an_error(storage, settings):
    storage.store("key", Source(4 << 20).file, 4 << 20)

    with storage.open("key") as blob:
        blob.read(1)
        os.truncate(Path(settings().directory, "key"), 5)
        with pytest.raises(StorageUnavailable):
            blob.read()


def test_a_server_with_another_key_is_refused(settings, sshd, tmp_path):
    other = (sshd.folder / "user_key.pub").read_text()
    (tmp_path / "known_hosts").write_text(f"[127.0.0.1]:{sshd.port} {other}")

    with pytest.raises(StorageUnavailable, match="does not match"):
        list(SftpStorage(settings(known_hosts=str(tmp_path / "known_hosts"))).list())


def test_a_server_with_an_unknown_key_is_refused(settings, tmp_path):
    (tmp_path / "known_hosts").touch()

    with pytest.raises(StorageUnavailable, match="known_hosts"):
        list(SftpStorage(settings(known_hosts=str(tmp_path / "known_hosts"))).list())


def test_missing_known_hosts_are_a_configuration_error(settings, tmp_path):
    with pytest.raises(ValidationError, match="known_hosts"):
        settings(known_hosts=str(tmp_path / "absent"))


def test_a_missing_folder_is_not_reported_as_an_absent_blob(storage, settings):
    Path(settings().directory).rmdir()

    with pytest.raises(StorageUnavailable):
        storage.stat("key")


def test_a_failed_store_leaves_no_file(storage, settings):
    with pytest.raises(StorageUnavailable):
        storage.store("folder/key", Source(9).file, 10)

    assert [] == os.listdir(settings().directory)


def test_a_partial_file_of_a_crash_is_not_a_blob(storage, settings):
    Path(settings().directory, ".partial-0011").write_bytes(b"half")

    assert [] == list(storage.list())
    with pytest.raises(BlobNotFound):
        storage.open(".partial-0011")


def test_connections_are_used_again(storage, sshd):
    storage.check()
    before = descendants(sshd.process.pid)

    storage.check()

    assert before == descendants(sshd.process.pid)


def test_secrets_do_not_show(settings):
    assert PASSPHRASE not in repr(settings())
