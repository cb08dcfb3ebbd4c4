"""The storage `ftp` reports a server that refuses, stops, hangs or disconnects, and leaves no partial file."""

import socket
import time

import pytest

from frepo_core.plugins import StorageFull, StorageUnavailable
from frepo_core.testing import Source, digest
from frepo_storage_ftp.connection import Connection
from support.ftp import FULL, SIZE, needs_proftpd, put, storage
from support.servers.proftpd import run_proftpd

pytestmark = needs_proftpd


def test_a_wrong_password_is_unavailable_and_not_shown(tls_server):
    with pytest.raises(StorageUnavailable) as caught:
        storage(tls_server, password="not the one-5ecre7").check()

    assert "530" in str(caught.value)
    assert "not the one" not in f"{caught.value!r}{caught.value.__cause__!r}"


def test_a_server_that_stopped_is_unavailable_soon(own_server):
    backend = storage(own_server)
    put(backend)
    own_server.stop()

    begin = time.monotonic()
    with pytest.raises(StorageUnavailable):
        backend.stat("aa/blob")

    assert time.monotonic() - begin < 20


def test_a_server_that_says_nothing_is_unavailable_after_the_timeout(tls_server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        backend = storage(tls_server, port=silent.getsockname()[1], timeout=0.5)

        begin = time.monotonic()
        with pytest.raises(StorageUnavailable) as caught:
            backend.stat("aa/blob")

    assert isinstance(caught.value.__cause__, TimeoutError)
    assert time.monotonic() - begin < 20


def test_an_upload_whose_connection_is_killed_leaves_no_file(own_server):
    backend = storage(own_server, root="")

    with pytest.raises(StorageUnavailable):
        backend.store("aa/blob", Source(SIZE, at=SIZE // 2, do=own_server.kill_sessions).file, SIZE)

    assert [] == own_server.files()


def test_an_upload_that_its_source_breaks_off_leaves_no_file(own_server):
    def fail():
        raise RuntimeError("the client went away")

    backend = storage(own_server, root="")

    with pytest.raises(RuntimeError, match="the client went away"):
        backend.store("aa/blob", Source(SIZE, at=SIZE // 2, do=fail).file, SIZE)

    assert [] == own_server.files()


@pytest.mark.costly
def test_a_read_whose_connection_is_killed_raises(own_server):
    backend = storage(own_server)
    put(backend, size=SIZE * 4)

    with backend.open("aa/blob") as blob:
        blob.read(1000)
        own_server.kill_sessions()
        with pytest.raises(StorageUnavailable, match="early|sending"):
            digest(blob)

    assert [("aa/blob", SIZE * 4)] == [(blob.key, blob.size) for blob in backend.list()]


def test_an_upload_that_the_server_cuts_short_is_full_and_leaves_no_file():
    with run_proftpd(directives=FULL) as server:
        backend = storage(server, root="")

        with pytest.raises(StorageFull, match="no room"):
            put(backend, size=SIZE)

        assert [] == server.files()


def test_an_upload_of_which_the_server_has_less_is_unavailable_and_leaves_no_file(own_server, monkeypatch):
    backend = storage(own_server, root="")
    monkeypatch.setattr(Connection, "size", lambda connection, path: 999)

    with pytest.raises(StorageUnavailable, match="has 999 of 1000 bytes"):
        put(backend, size=1000)

    assert [] == own_server.files()


def test_a_file_that_may_not_be_read_is_not_taken_for_absent(own_server):
    backend = storage(own_server, root="")
    put(backend)
    (own_server.root / "aa" / "blob").chmod(0)

    with pytest.raises(StorageUnavailable, match="denied"):
        backend.open("aa/blob")


def test_a_file_that_may_not_be_deleted_is_no_success(own_server):
    backend = storage(own_server, root="")
    put(backend)
    (own_server.root / "aa").chmod(0o500)

    with pytest.raises(StorageUnavailable, match="denied"):
        backend.delete("aa/blob")
