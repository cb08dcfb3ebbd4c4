"""Opens and logs in control connections."""

import ftplib
import logging
import ssl
from collections.abc import Callable
from socket import socket

from frepo_core.plugins import ConfigurationError

from .settings import FtpSettings

log = logging.getLogger(__name__)


class SessionReusingTLS(ftplib.FTP_TLS):
    """FTP over TLS that resumes the control channel's session on the data channel.

    Strict servers demand it, as it proves that both channels are of one client; ftplib starts a new session.
    """

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket, int | None]:
        """Start a transfer; the data connection's certificate is checked as the control connection's was."""
        connection, size = ftplib.FTP.ntransfercmd(self, cmd, rest)
        assert isinstance(self.sock, ssl.SSLSocket)
        secured = self.context.wrap_socket(connection, server_hostname=self.host, session=self.sock.session)
        return secured, size


def make_login(settings: FtpSettings) -> Callable[[], ftplib.FTP]:
    """Return what opens a connection: logged in, both channels secured if so set, in binary mode.

    Raises `ConfigurationError` where the CA file cannot be read; calling the result raises what ftplib raises.
    """
    if not settings.ssl:
        return lambda: _log_in(ftplib.FTP(encoding="latin-1"), settings)
    context = _make_context(settings)
    return lambda: _log_in(SessionReusingTLS(context=context, encoding="latin-1"), settings)


def encode(text: str) -> str:
    """Write a text so that ftplib, set to Latin-1, sends it as UTF-8 (RFC 2640).

    Latin-1 reads any reply, whatever charset the server speaks; strict UTF-8 would choke on some.
    """
    return text.encode("utf-8", "surrogateescape").decode("latin-1")


def _make_context(settings: FtpSettings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca_file)
    except OSError as error:  # ssl.SSLError is one
        raise ConfigurationError(
            f"fs.ftp.ssl_ca_file (FS_FTP_SSL_CA_FILE): {settings.ssl_ca_file} holds no certificates to read: {error}"
        ) from error
    if not settings.ssl_verify:
        log.warning(
            "fs.ftp.ssl_verify is off: anybody between here and %s can read and change the blobs and the password",
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
