"""The storage `ftp` keeps the storage contract against a real proftpd, plain and with TLS that is strict."""

import ftplib
import gc
import logging
import os
import socket
import ssl
import stat
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import count

import pytest

from frepo_core.plugins import ConfigurationError, PluginRegistry, StorageFull, StorageUnavailable
from frepo_core.settings.loading import load_storage_settings
from frepo_core.testing import Source, StorageContract, digest, pattern
from frepo_storage_ftp import FtpSettings, FtpStorage
from servers.proftpd import MISSING, PASSWORD, USER, run_proftpd

pytestmark = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")

FULL = "MaxStoreFileSize 30 Kb"
SIZE = 8 << 20  # more than the sockets' buffers hold
numbers = count()


def storage(server, *, tls=True, **settings) -> FtpStorage:
    """Build a storage with a root of its own on the server."""
    defaults = {
        "host": "localhost",
        "port": server.port,
        "username": USER,
        "password": PASSWORD,
        "root": f"{next(numbers)}/blobs",
        "ssl": tls,
        "ssl_ca_file": server.ca if tls else None,
        "timeout": 10,
    }
    return FtpStorage(FtpSettings(**(defaults | settings)))


def put(backend, key="aa/blob", size=1000):
    backend.store(key, Source(size).file, size)


def keys(backend):
    return [blob.key for blob in backend.list()]


def await_sessions(server, count):
    """Wait until the server has at most so many sessions; it notices an end a moment later than we do."""
    until = time.monotonic() + 15
    while len(server.sessions()) > count:
        assert time.monotonic() < until
        time.sleep(0.02)


@pytest.fixture(scope="module")
def tls_server():
    with run_proftpd() as server:
        yield server


@pytest.fixture(scope="module")
def plain_server():
    with run_proftpd(tls=False) as server:
        yield server


@pytest.fixture
def own_server():
    """A server that a test may stop or whose sessions it may kill."""
    with run_proftpd() as server:
        yield server


@pytest.fixture(scope="module")
def nobody():
    """A port where nobody listens: bound, so that nobody else takes it."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


class FtpContract(StorageContract):
    @pytest.fixture
    def backend(self, server, settings):
        return storage(server, **settings)

    @pytest.fixture
    def unavailable_backend(self, server, settings, nobody):
        return storage(server, **settings, port=nobody)

    @pytest.fixture
    def full_backend(self, settings):
        with run_proftpd(tls=settings["tls"], directives=FULL) as server:
            yield storage(server, tls=settings["tls"], ssl_ca_file=server.ca)

    @pytest.fixture
    def driver_errors(self):
        return (ftplib.Error, OSError, EOFError)

    @pytest.fixture
    def list_size(self):
        return 300


class TestOverTLS(FtpContract):
    @pytest.fixture
    def server(self, tls_server):
        return tls_server

    @pytest.fixture
    def settings(self):
        return {"tls": True}


class TestPlain(FtpContract):
    @pytest.fixture
    def server(self, plain_server):
        return plain_server

    @pytest.fixture
    def settings(self):
        return {"tls": False}


@pytest.mark.parametrize("tls", [True, False])
def test_the_server_may_open_the_data_connections(tls_server, plain_server, tls):
    backend = storage(tls_server if tls else plain_server, tls=tls, passive=False)

    put(backend, size=SIZE)
    with backend.open("aa/blob", 7, 1000) as part, backend.open("aa/blob") as whole:
        found = part.read(), digest(whole)

    assert (pattern(7, 1000), digest(Source(SIZE))) == found
    assert ["aa/blob"] == keys(backend)


@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
def test_each_version_of_tls_resumes_its_session(protocol):
    with run_proftpd(protocols=protocol) as server:
        backend = storage(server)

        for _ in range(40):
            backend.check()

        assert 1 == len(server.sessions())


def test_the_server_refuses_a_data_channel_that_does_not_resume_the_session(tls_server):
    """What the other tests rest on: a client without our few lines cannot transfer anything."""
    with ftplib.FTP_TLS(context=ssl.create_default_context(cafile=tls_server.ca)) as ftp:
        ftp.connect("localhost", tls_server.port, 10)
        ftp.login(USER, PASSWORD)
        ftp.prot_p()

        with pytest.raises((ftplib.Error, OSError, EOFError)):
            ftp.storbinary("STOR refused", BytesIO(b"content"))


def test_a_server_that_demands_tls_is_not_spoken_to_in_the_clear(tls_server):
    with pytest.raises(StorageUnavailable, match="connecting to localhost"):
        storage(tls_server, tls=False).check()


def test_a_certificate_of_an_unknown_authority_is_refused(tls_server):
    with pytest.raises(StorageUnavailable) as caught:
        storage(tls_server, ssl_ca_file=tls_server.other_ca).check()

    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


def test_a_certificate_for_another_host_is_refused(tls_server):
    with pytest.raises(StorageUnavailable) as caught:
        storage(tls_server, host="127.0.0.1").check()

    assert isinstance(caught.value.__cause__, ssl.SSLCertVerificationError)


def test_an_unchecked_certificate_works_and_is_warned_of(tls_server, caplog):
    backend = storage(tls_server, host="127.0.0.1", ssl_ca_file=None, ssl_verify=False)

    backend.check()

    assert [logging.WARNING] == [record.levelno for record in caplog.records]
    assert "fs.ftp.ssl_verify is off" in caplog.text


def test_a_ca_file_without_certificates_is_a_boot_error(tls_server, tmp_path):
    empty = tmp_path / "empty.pem"
    empty.touch()

    with pytest.raises(ConfigurationError, match="FS_FTP_SSL_CA_FILE"):
        storage(tls_server, ssl_ca_file=empty)


def test_a_wrong_password_is_unavailable_and_not_shown(tls_server):
    with pytest.raises(StorageUnavailable) as caught:
        storage(tls_server, password="not the one").check()

    assert "530" in str(caught.value)
    assert "not the one" not in f"{caught.value!r}{caught.value.__cause__!r}"


def test_a_connection_is_used_again(own_server):
    backend = storage(own_server)

    for _ in range(5):
        backend.check()

    assert 1 == len(own_server.sessions())


def test_readers_that_are_closed_early_do_not_use_connections_up(own_server):
    backend = storage(own_server)
    put(backend, size=SIZE)

    for start in range(10):
        with backend.open("aa/blob", start) as blob:
            assert pattern(start, 10) == blob.read(10)

    assert 1 == len(own_server.sessions())


def test_a_reader_that_is_forgotten_gives_its_connection_back(own_server):
    backend = storage(own_server)
    put(backend, size=SIZE)
    blob = backend.open("aa/blob")
    blob.read(10)

    del blob
    gc.collect()
    backend.check()

    assert 1 == len(own_server.sessions())


def test_no_more_idle_connections_are_kept_than_set(own_server):
    backend = storage(own_server, pool_size=2)

    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda _: backend.check(), range(32)):
            pass

    await_sessions(own_server, 2)


def test_connections_that_were_killed_between_calls_are_replaced(own_server):
    backend = storage(own_server)
    with ThreadPoolExecutor(4) as pool:
        for _ in pool.map(lambda number: put(backend, f"aa/{number}"), range(8)):
            pass

    own_server.kill_sessions()
    put(backend, "aa/after")

    assert 9 == len(keys(backend))


def test_a_connection_that_the_server_ended_by_421_is_replaced():
    with run_proftpd(directives="TimeoutIdle 3") as server:
        backend = storage(server)
        put(backend)
        await_sessions(server, 0)

        assert ["aa/blob"] == keys(backend)


def test_a_server_that_stopped_is_unavailable_soon(own_server):
    backend = storage(own_server)
    put(backend)
    own_server.stop()

    begin = time.monotonic()
    with pytest.raises(StorageUnavailable):
        backend.stat("aa/blob")

    assert time.monotonic() - begin < 2


def test_a_server_that_says_nothing_is_unavailable_after_the_timeout(tls_server):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        backend = storage(tls_server, port=silent.getsockname()[1], timeout=0.5)

        begin = time.monotonic()
        with pytest.raises(StorageUnavailable) as caught:
            backend.stat("aa/blob")

    assert isinstance(caught.value.__cause__, TimeoutError)
    assert time.monotonic() - begin < 3


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


def test_what_a_crash_left_is_not_listed(own_server):
    backend = storage(own_server, root="")
    put(backend)
    (own_server.root / "aa" / ".partial-0123456789abcdef").write_bytes(b"half a bl")

    assert ["aa/blob"] == keys(backend)


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


def test_permissions_are_set_where_configured(own_server):
    backend = storage(own_server, root="blobs", file_permissions="0600", directory_permissions="0700")

    put(backend)

    modes = [stat.S_IMODE((own_server.root / name).stat().st_mode) for name in ("blobs", "blobs/aa", "blobs/aa/blob")]
    assert [0o700, 0o700, 0o600] == modes


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


def test_a_link_is_no_blob_and_not_followed(own_server):
    backend = storage(own_server, root="blobs")
    put(backend)
    (own_server.root / "blobs" / "link").symlink_to(".")

    assert ["aa/blob"] == keys(backend)


def test_a_file_with_a_strange_name_does_not_disturb_the_list(own_server):
    backend = storage(own_server, root="")
    put(backend)
    (own_server.root / "żółw \udcff").touch()

    assert {"aa/blob", "żółw \udcff"} == set(keys(backend))


def test_the_root_may_have_letters_beyond_ascii(own_server):
    backend = storage(own_server, root="zażółć gęślą")

    put(backend)

    assert ["zażółć gęślą/aa/blob"] == own_server.files()


def test_the_root_may_be_absolute(own_server):
    seen_root = "" if os.getuid() == 0 else own_server.root  # only root can confine the session to a folder
    backend = storage(own_server, root=f"{seen_root}/blobs/")

    put(backend)

    assert ["blobs/aa/blob"] == own_server.files()
    assert ["aa/blob"] == keys(backend)


def test_settings_come_from_the_environment():
    environment = {
        "FS_FTP_HOST": "ftp.example.org",
        "FS_FTP_USERNAME": "frepo",
        "FS_FTP_PASSWORD": "12345",
        "FS_FTP_SSL": "1",
        "FS_FTP_FILE_PERMISSIONS": "",
        "FS_FTP_DIRECTORY_PERMISSIONS": "0750",
    }

    settings = load_storage_settings(FtpSettings, "ftp", {}, environment)

    assert ("12345", True, None, 0o750) == (
        settings.password.get_secret_value(),
        settings.ssl,
        settings.file_permissions,
        settings.directory_permissions,
    )
    assert "12345" not in repr(settings)


@pytest.mark.parametrize("name", ["host", "username", "password", "root"])
def test_a_setting_of_two_lines_is_refused(name):
    values = {"FS_FTP_HOST": "h", "FS_FTP_USERNAME": "u", "FS_FTP_PASSWORD": "p"}

    with pytest.raises(ConfigurationError, match="one line"):
        load_storage_settings(FtpSettings, "ftp", {}, values | {f"FS_FTP_{name.upper()}": "a\r\nDELE b"})


def test_the_backend_is_found_by_its_entry_point():
    assert PluginRegistry.from_entry_points().storage("ftp").build is FtpStorage


def test_what_a_crash_left_goes_by_tidying_up(tls_server):
    backend = storage(tls_server)
    put(backend, "aa/blob")
    left = tls_server.root / backend._settings.root / "aa/.partial-left"
    left.write_bytes(b"half")

    young = backend.tidy(datetime.now(UTC) - timedelta(days=1))
    old = backend.tidy(datetime.now(UTC) + timedelta(days=1))

    assert (0, 1, ["aa/blob"]) == (young, old, keys(backend))
