"""Starts services and console commands fast, as forks of a process that has already imported all modules.

A normal start takes over a second of CPU time, and the tests start a hundred processes.
"""

import importlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any, NoReturn

from support.logs import log_recorder
from support.paths import TESTS
from support.servers.preloading import preload
from support.servers.service import START_SECONDS, Service


class ForkServer:
    """The process that forks. Each order is a line of JSON; each answer is a number.

    A fork runs a service or a console command, or calls the function in `call="module:function"` with `arguments`.
    """

    def __init__(self) -> None:
        tests = str(TESTS)
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "support.servers.fork_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment | {"PYTHONPATH": tests} | log_recorder.environment(),
            text=True,
        )

    def ask(self, **order) -> int:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())

    def close(self) -> None:
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)


class ForkedProcess:
    """A fork, with the methods of a process that `Service` uses."""

    def __init__(self, fork_server: ForkServer, **order) -> None:
        self._fork_server = fork_server
        self.pid = fork_server.ask(**order)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            status = self._fork_server.ask(poll=self.pid)
            self.returncode = None if status < 0 else os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, seconds: float) -> int:
        deadline = time.monotonic() + seconds
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("a forked service", seconds)
            time.sleep(0.01)
        return self.returncode or 0

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkedService(Service):
    """A service whose process is a fork of the fork server."""

    def __init__(
        self,
        folder: Path,
        fork_server: ForkServer,
        environment: dict[str, str] | None = None,
        ini: Path | None = None,
        host: str = "127.0.0.1",
    ) -> None:
        super().__init__(folder, environment, ini, host)
        self._fork_server = fork_server

    def start(self) -> None:
        arguments = ["pserve", str(self.ini), f"http_listen={self.address}"]
        self.process = ForkedProcess(self._fork_server, arguments=arguments, **self._order(self.log))
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start:\n{self.log.read_text()}")
            time.sleep(0.01)

    def frepo(self, *arguments: str) -> str:
        output, errors = self.folder / "output", self.folder / "errors"
        output.unlink(missing_ok=True)
        order = self._order(errors) | {"output": str(output)}
        process = ForkedProcess(self._fork_server, console=["--ini", str(self.ini), *arguments], **order)
        if status := process.wait(START_SECONDS):
            error = subprocess.CalledProcessError(status, arguments, output.read_text(), errors.read_text())
            error.add_note(error.stderr)
            raise error
        log_recorder.record_output(errors.read_text())
        return output.read_text()

    def _order(self, log: Path) -> dict[str, Any]:
        return {"environment": self.environment, "log": str(log), "folder": str(self.folder)}


class ScriptService(ForkedService):
    """A service that the script starts; only its console commands are forks."""

    start = Service.start


def _set_up(order) -> None:
    """Set the environment, folder and files of the order; only the fork calls this."""
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    for descriptor, path in ((1, order.get("output", order["log"])), (2, order["log"])):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), descriptor)
    from frepo_core.services.base import failpoints

    importlib.reload(failpoints)  # it has read the fork server's environment


def _command(order) -> int:
    """Run a command of the console; only the fork calls this."""
    from frepo_core.script import main

    _set_up(order)
    return main(order["console"])


def _serve(order, empty: Path) -> int:
    """Run the service, over a copy of an empty database if it has none yet; only the fork calls this."""
    _set_up(order)
    own = Path("frepo.db")
    if os.environ.get("DATABASE_URL") == f"sqlite:///{own.absolute()}" and not own.exists():
        shutil.copy(empty, own)
    from support.reliability import clock

    time.tzset()
    if clock.ENVIRONMENT in os.environ:
        clock.install()
    from pyramid.scripts.pserve import PServeCommand

    return PServeCommand(order["arguments"]).run() or 0


def _call(order) -> int:
    """Call a function that the order names; only the fork calls this."""
    module, _, function = order["call"].partition(":")
    getattr(importlib.import_module(module), function)(*order["arguments"])
    return 0


def _execute(order, empty: Path) -> NoReturn:
    """Execute the order, and exit as a separate process would; only the fork calls this."""
    status: Any = 1
    try:
        status = _call(order) if "call" in order else _command(order) if "console" in order else _serve(order, empty)
        sys.stdout.flush()
    except SystemExit as end:
        status = end.code
        if isinstance(status, str):  # print a message, as Python does
            print(status, file=sys.stderr, flush=True)
            status = 1
    except BaseException:  # noqa: BLE001  # the fork must exit here after any exception
        traceback.print_exc()
    finally:
        os._exit(status or 0)


def main() -> None:
    """Prepare what all forks have in common; it is kept until the last order."""
    with tempfile.TemporaryDirectory() as folder:
        serve_orders(preload(folder))


def serve_orders(empty: Path) -> None:
    """Fork for each order, and report the exit status of forks."""
    for line in sys.stdin:
        order = json.loads(line)
        if "poll" in order:
            pid, status = os.waitpid(order["poll"], os.WNOHANG)
            print(status if pid else -1, flush=True)
        elif pid := os.fork():
            print(pid, flush=True)
        else:
            _execute(order, empty)


if __name__ == "__main__":
    main()
