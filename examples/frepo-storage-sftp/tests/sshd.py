"""OpenSSH's own server as a child of the tests: a free loopback port, a temporary folder, a host key of its own."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
NOT_INSTALLED = "OpenSSH's server (openssh-server) is not installed"
START_SECONDS = 20
PASSPHRASE = "the key's own phrase"

CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/user_key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
MaxStartups 100
Subsystem sftp internal-sftp
"""


class Sshd:
    """A running server; `environment` has the settings of a frepo that stores there, `blobs` is where they go."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = folder / "blobs"
        self.blobs.mkdir()
        self.port = free_port()
        for name, phrase in (("host_key", ""), ("user_key", PASSPHRASE)):
            _run("ssh-keygen", "-q", "-t", "ed25519", "-a", "1", "-N", phrase, "-f", f"{folder}/{name}")
        _, key = (folder / "host_key.pub").read_text().split()[:2]
        (folder / "known_hosts").write_text(f"[127.0.0.1]:{self.port} ssh-ed25519 {key}\n")
        (folder / "sshd_config").write_text(CONFIG.format(port=self.port, folder=folder))
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def settings(self) -> dict[str, str]:
        return {
            "host": "127.0.0.1",
            "port": str(self.port),
            "user": getpass.getuser(),
            "key_file": f"{self.folder}/user_key",
            "password": PASSPHRASE,
            "known_hosts": f"{self.folder}/known_hosts",
            "directory": str(self.blobs),
        }

    @property
    def environment(self) -> dict[str, str]:
        return {f"FS_SFTP_{name.upper()}": value for name, value in self.settings.items()}

    def start(self) -> None:
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd locks its helpers in
        with (self.folder / "sshd.log").open("ab") as log:
            self.process = subprocess.Popen([str(SSHD), "-D", "-e", "-f", f"{self.folder}/sshd_config"], stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"sshd does not start:\n{(self.folder / 'sshd.log').read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End the server and its sessions, which are its children."""
        assert self.process is not None
        for pid in descendants(self.process.pid):
            with suppress(ProcessLookupError):  # a session whose client has left ends by itself
                os.kill(pid, 9)
        self.process.kill()
        self.process.wait()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), 5) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False


@contextmanager
def running_sshd(folder: Path) -> Iterator[Sshd]:
    server = Sshd(folder)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def descendants(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [found for child in children for found in (*descendants(int(child)), int(child))]


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)
