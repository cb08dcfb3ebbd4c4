"""frepo as a separate process, with real waitress and real sockets."""

import os
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

from support.logs import log_recorder
from support.paths import ROOT
from support.servers.processes import free_port

BIN = Path(sys.executable).parent
START_SECONDS = 180  # a machine that is busy, and strace, make a start ten times as long
# FREPO_TEST_SERVER=stock runs every service under stock waitress, without frepo-server.
IS_STOCK = os.environ.get("FREPO_TEST_SERVER") == "stock"


def with_stock_server(ini: Path, folder: Path, address: str) -> Path:
    """Write a copy of the ini with stock waitress as server; the address is in the file, not on the command line."""
    text = ini.read_text().replace("listen = %(http_listen)s", f"listen = {address}")
    setting = "clear_untrusted_proxy_headers = false"
    kept = "" if setting in text else f"\n{setting}"
    copy = folder / f"stock-{ini.name}"
    copy.write_text(text.replace("use = egg:frepo-server#waitress", f"use = egg:waitress#main{kept}"))
    return copy


class Service:
    """`pserve development.ini` with its state in `folder`; `environment` overrides settings."""

    def __init__(
        self,
        folder: Path,
        environment: dict[str, str] | None = None,
        ini: Path | None = None,
        host: str = "127.0.0.1",
        programs: Path = BIN,
    ) -> None:
        """`programs` is the folder of `pserve` and `frepo`."""
        self.folder = folder
        self.programs = programs
        self.ini = ini or ROOT / "development.ini"
        self.address = f"{host}:{free_port()}"
        if IS_STOCK:
            self.ini = with_stock_server(self.ini, folder, self.address)
        self.url = f"http://{self.address}"
        self.log = folder / "service.log"
        self.temporary = folder / "temporary"
        self.storage = folder / "storage"
        self.temporary.mkdir(exist_ok=True)
        # Settings in the tester's environment must not affect the service.
        self.environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ} | {
            "APP_SECRETS_FILE": str(folder / "secrets.json"),
            "DATABASE_URL": f"sqlite:///{folder}/frepo.db",
            "FS_LOCAL_DIRECTORY": str(self.storage),
            "TEMP_DIRECTORY": str(self.temporary),
            "TMPDIR": str(self.temporary),
            "TRASH_MIN_FREE": "0",  # the tester's disk may be nearly full
            **log_recorder.environment(),
            **(environment or {}),
        }
        self.process: subprocess.Popen[bytes] | None = None
        self._admin = ""

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    @property
    def admin(self) -> str:
        """An administrator's token, which the console creates at first use."""
        if not self._admin:
            self._admin = self.frepo("auth:generate-admin-token").strip()
        return self._admin

    def frepo(self, *arguments: str) -> str:
        """Run a console command with the service's settings; return its output."""
        command = [str(self.programs / "frepo"), "--ini", str(self.ini), *arguments]
        done = subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True)
        log_recorder.record_output(done.stderr)
        return done.stdout

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [str(self.programs / "pserve"), str(self.ini), f"http_listen={self.address}"],
                env=self.environment,
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start:\n{self.log.read_text()}")
            time.sleep(0.05)

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/", timeout=30):
                return True
        except OSError:
            return False

    def stop(self, with_signal: int = signal.SIGTERM) -> None:
        """End the process that was started, and wait for it. A kill has to hit a process that runs."""
        if with_signal == signal.SIGKILL:
            assert self.process is not None and self.process.poll() is None, "there is nothing to kill"
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
            try:
                self.process.wait(60)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(60)
        log_recorder.record_output(self.log.read_text(errors="replace"))
