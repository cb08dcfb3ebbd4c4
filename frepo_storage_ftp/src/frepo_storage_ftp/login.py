"""Opens control connections and logs in."""

import ftplib
import logging
import ssl
from collections.abc import Callable
from socket import socket

from frepo_core.plugins import ConfigurationError

from .settings import FtpSettings

log = logging.getLogger(__name__)


class SessionReusingTLS(ftplib.FTP_TLS):
    """FTP over TLS that resumes the TLS session of the control connection on data connections.

    Strict servers require this, as it proves that both connections come from the same client. ftplib starts a new
    session.
    """

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket, int | None]:
        """Start a transfer. The certificate of the data connection is verified like that of the control connection."""
        connection, size = ftplib.FTP.ntransfercmd(self, cmd, rest)
        assert isinstance(self.sock, ssl.SSLSocket)
        secured = self.context.wrap_socket(connection, server_hostname=self.host, session=self.sock.session)
        return secured, size


def make_login(settings: FtpSettings) -> Callable[[], ftplib.FTP]:
    """Return a function that opens a connection: logged in, with TLS if configured, in binary mode.

    Raises `ConfigurationError` if the CA file cannot be read. The returned function raises ftplib's exceptions.
    """
    if not settings.ssl:
        return lambda: _log_in(ftplib.FTP(encoding="latin-1"), settings)
    context = _make_context(settings)
    return lambda: _log_in(SessionReusingTLS(context=context, encoding="latin-1"), settings)


def encode(text: str) -> str:
    """Encode a text so that ftplib, set to Latin-1, sends it as UTF-8 (RFC 2640).

    Latin-1 can decode any reply. Strict UTF-8 would fail on replies in other encodings.
    """
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _make_context(settings: FtpSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca_file)
    except OSError as error:  # includes ssl.SSLError
        raise ConfigurationError(
            f"fs.ftp.ssl_ca_file (FS_FTP_SSL_CA_FILE): cannot read certificates from {settings.ssl_ca_file}: {error}"
        ) from error
    if not settings.ssl_verify:
        log.warning(
            "fs.ftp.ssl_verify is off: an attacker between frepo and %s can read and change the blobs and the password",
            settings.host,
        )
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _log_in(ftp: ftplib.FTP, settings: FtpSettings) -> ftplib.FTP:
    ftp.trust_server_pasv_ipv4_address = not settings.ignore_passive_address  # type: ignore[attr-defined]
    ftp.set_pasv(settings.passive)
    try:
        ftp.connect(settings.host, settings.port, timeout=settings.timeout)
        if isinstance(ftp, ftplib.FTP_TLS):
            ftp.auth()
        ftp.login(encode(settings.username), encode(settings.password.get_secret_value()))
        if isinstance(ftp, ftplib.FTP_TLS):
            ftp.prot_p()
        ftp.voidcmd("TYPE I")
    except BaseException:
        ftp.close()
        raise
    return ftp
