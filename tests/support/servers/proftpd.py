"""Starts a real proftpd as a child process, on a free loopback port, with all its files in one temporary folder."""

import contextlib
import grp
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.servers.processes import START_SECONDS, free_port

PROGRAM = shutil.which("proftpd", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
TLS_MODULE = Path("/usr/lib/proftpd/mod_tls.so")
MISSING = None if PROGRAM and TLS_MODULE.exists() else "proftpd is not installed: make services"

USER = "frepo"
PASSWORD = "s 5ecre7"
NOBODY = 65534
NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

CONFIGURATION = """
ModulePath /usr/lib/proftpd
LoadModule mod_tls.c
ServerName test
ServerType standalone
DefaultServer on
DefaultAddress 127.0.0.1
SocketBindTight on
UseIPv6 off
Port {port}
User {user}
Group {group}
{enter} ~
ControlsEngine off
AuthOrder mod_auth_file.c
AuthUserFile {folder}/passwd
RequireValidShell off
PidFile {folder}/pid
ScoreboardFile {folder}/scoreboard
DelayEngine off
UseReverseDNS off
WtmpLog off
TransferLog none
SystemLog {folder}/log
AllowOverwrite on
AllowRetrieveRestart on
Umask 022
MaxInstances none
TimeoutLinger 1
{tls}
{directives}
"""

# No TLSSessionCache: session tickets serve for resuming, and mod_tls_shmcache of proftpd 1.3.8 writes over the
# memory of a session that has several data connections over TLS 1.3, which then crashes or sends plain text.
TLS = """
TLSEngine on
TLSRequired on
TLSProtocol {protocols}
TLSECCertificateFile {folder}/cert.pem
TLSECCertificateKeyFile {folder}/key.pem
TLSVerifyClient off
TLSLog {folder}/tls.log
"""


@dataclass(frozen=True, kw_only=True)
class Proftpd:
    """A running server. Clients start in the folder `root`, which is their `/` if tests run as root; `ca` is its CA."""

    port: int
    root: Path
    ca: Path
    other_ca: Path
    process: subprocess.Popen[bytes]

    def sessions(self) -> list[int]:
        """Return the process ids of its sessions."""
        pid = self.process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def kill_sessions(self) -> None:
        """Kill every session, as in a crash; the server continues to run."""
        for session in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(session, signal.SIGKILL)
        until = time.monotonic() + 60
        while self.sessions() and time.monotonic() < until:
            time.sleep(0.01)

    def stop(self) -> None:
        """Stop the server and its sessions."""
        if self.process.poll() is None:
            self.kill_sessions()
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()

    def files(self) -> list[str]:
        """Return the paths of all files below the root, temporary ones included."""
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file())


@contextlib.contextmanager
def run_proftpd(*, tls: bool = True, protocols: str = "TLSv1.2 TLSv1.3", directives: str = "") -> Iterator[Proftpd]:
    """Run a server; with `tls`, it requires TLS on both channels, and that data channels resume the TLS session."""
    with tempfile.TemporaryDirectory(prefix="frepo-proftpd-") as folder:
        Path(folder).chmod(0o711)  # sessions run as `nobody`, and pytest's folders are private
        with _run(Path(folder), TLS if tls else "", protocols=protocols, directives=directives) as server:
            yield server


@contextlib.contextmanager
def _run(folder: Path, template: str, **values: str) -> Iterator[Proftpd]:
    root = folder / "root"
    root.mkdir()
    as_root = os.getuid() == 0
    owner = (NOBODY, NOBODY) if as_root else (os.getuid(), os.getgid())
    os.chown(root, *owner)
    _write_password(folder, root, owner)
    make_certificates(folder)
    port = free_port()
    configuration = CONFIGURATION.format(
        folder=folder,
        port=port,
        user=pwd.getpwuid(owner[0]).pw_name,
        group=grp.getgrgid(owner[1]).gr_name,
        enter="DefaultRoot" if as_root else "DefaultChdir",  # only root can confine a session to a folder
        tls=template.format(folder=folder, **values),
        directives=values["directives"],
    )
    (folder / "proftpd.conf").write_text(configuration)
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM, "-n", "-q", "-c", str(folder / "proftpd.conf")],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    server = Proftpd(port=port, root=root, ca=folder / "ca.pem", other_ca=folder / "other-ca.pem", process=process)
    try:
        _await_greeting(server, folder)
        yield server
    finally:
        server.stop()


def make_certificates(folder: Path) -> None:
    """Create two CAs, `ca.pem` and `other-ca.pem`, and a certificate of the first CA for the name `localhost`."""
    for name in ("ca", "other-ca"):
        _openssl(
            f"req -x509 {NEW_KEY} -days 2 -subj /CN=test-authority "
            f"-addext keyUsage=critical,keyCertSign,cRLSign -keyout {name}.key -out {name}.pem",
            folder,
        )
    (folder / "extensions").write_text("subjectAltName=DNS:localhost\n")
    _openssl(f"req {NEW_KEY} -subj /CN=localhost -keyout key.pem -out request.pem", folder)
    _openssl(
        "x509 -req -in request.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile extensions -out cert.pem",
        folder,
    )
    (folder / "key.pem").chmod(0o600)


def _openssl(arguments: str, folder: Path) -> str:
    command = ["openssl", *arguments.split()]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


def _write_password(folder: Path, root: Path, owner: tuple[int, int]) -> None:
    command = ["openssl", "passwd", "-1", PASSWORD]  # a fast hash, because each connection logs in
    digest = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    passwords = folder / "passwd"
    passwords.write_text(f"{USER}:{digest}:{owner[0]}:{owner[1]}::{root}:/bin/false\n")
    passwords.chmod(0o600)


def _await_greeting(server: Proftpd, folder: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 5) as connection:
            if connection.recv(3) == b"220":
                return
        if server.process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"proftpd does not start: {(folder / 'output').read_text()}")
        time.sleep(0.02)
