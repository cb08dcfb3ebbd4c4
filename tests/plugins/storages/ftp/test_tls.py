"""The storage `ftp` with strict TLS on a real proftpd: it resumes sessions and checks certificates."""

import ftplib
import logging
import ssl
from contextlib import closing
from io import BytesIO

import pytest

from frepo_core.plugins import ConfigurationError, StorageUnavailable
from support.ftp import needs_proftpd, storage
from support.servers.proftpd import PASSWORD, USER, run_proftpd

pytestmark = needs_proftpd


@pytest.mark.costly
@pytest.mark.parametrize("protocol", ["TLSv1.2", "TLSv1.3"])
def test_each_version_of_tls_resumes_its_session(protocol):
    with run_proftpd(protocols=protocol) as server:
        backend = storage(server)

        for _ in range(40):
            backend.check()

        assert 1 == len(server.sessions())


def test_the_server_refuses_a_data_channel_that_does_not_resume_the_session(tls_server):
    """The other tests rely on this: a client that does not resume sessions cannot transfer data."""
    with closing(ftplib.FTP_TLS(context=ssl.create_default_context(cafile=tls_server.ca))) as ftp:
        ftp.connect("localhost", tls_server.port, 10)
        ftp.login(USER, PASSWORD)
        ftp.prot_p()

        with pytest.raises((ftplib.Error, OSError, EOFError)):
            ftp.storbinary("STOR refused", BytesIO(b"content"))


def test_a_server_that_requires_tls_is_not_used_without_it(tls_server):
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
