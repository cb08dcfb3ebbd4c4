"""The storage `ftp` meets the storage contract with a real proftpd, without TLS and with strict TLS."""

import ftplib
import os
import stat
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.plugins import partial_name
from frepo_core.testing import Source, StorageContract, digest, pattern
from support.ftp import FULL, SIZE, keys, needs_proftpd, put, storage
from support.servers.proftpd import run_proftpd

pytestmark = needs_proftpd


class FtpContract(StorageContract):
    @pytest.fixture
    def backend(self, server, settings):
        return storage(server, **settings)

    @pytest.fixture
    def unavailable_backend(self, server, settings, closed_port):
        return storage(server, **settings, port=closed_port)

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


@pytest.mark.costly  # the other has the same rules; test_ownership.py and sealed/test_services.py store without TLS
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


def test_what_a_crash_left_is_not_listed(own_server):
    backend = storage(own_server, root="")
    put(backend)
    (own_server.root / "aa" / ".partial-0123456789abcdef").write_bytes(b"half a bl")

    assert ["aa/blob"] == keys(backend)


def test_permissions_are_set_where_configured(own_server):
    backend = storage(own_server, root="blobs", file_permissions="0600", directory_permissions="0700")

    put(backend)

    modes = [stat.S_IMODE((own_server.root / name).stat().st_mode) for name in ("blobs", "blobs/aa", "blobs/aa/blob")]
    assert [0o700, 0o700, 0o600] == modes


def test_a_link_is_not_a_blob_and_not_followed(own_server):
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


def test_tidying_up_deletes_partial_files_of_a_crash(tls_server):
    backend = storage(tls_server)
    put(backend, "aa/blob")
    root = tls_server.root / backend._settings.root
    left = root / "aa" / partial_name()
    of_others = [root / "aa/.partial-left", root / partial_name()]
    for path in (left, *of_others):
        path.write_bytes(b"half")

    young = backend.tidy(datetime.now(UTC) - timedelta(days=1))
    old = backend.tidy(datetime.now(UTC) + timedelta(days=1))

    assert (0, 1, ["aa/blob"]) == (young, old, keys(backend))
    assert (False, [True, True]) == (left.exists(), [path.exists() for path in of_others])


@pytest.mark.parametrize(
    ("reply", "expected"), [("213 123456", 123456), ("213 lots", None), ("213", None), ("200 OK", None)]
)
def test_the_free_space_is_what_the_server_tells(plain_server, monkeypatch, reply, expected):
    send = ftplib.FTP.sendcmd
    monkeypatch.setattr(
        ftplib.FTP, "sendcmd", lambda self, command: reply if command.startswith("AVBL") else send(self, command)
    )

    assert expected == storage(plain_server, tls=False).free_space()
