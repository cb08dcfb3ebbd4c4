"""Starts services fast: a process that has everything imported forks, as 50 starts of a second each are too many."""

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from servers.service import START_SECONDS, Service


class Nursery:
    """The process that forks; each order is a line of JSON, each answer a number.

    A fork becomes a service, or calls what `call="module:function"` names with `arguments`.
    """

    def __init__(self) -> None:
        tests = str(Path(__file__).parents[1])
        environment = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "reliability.nursery"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment | {"PYTHONPATH": tests},
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
        self._process.wait(10)


class Child:
    """A fork, with what `Service` needs of a process."""

    def __init__(self, nursery: Nursery, **order) -> None:
        self._nursery = nursery
        self.pid = nursery.ask(**order)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            status = self._nursery.ask(poll=self.pid)
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
    """A service whose process is a fork of the nursery's."""

    def __init__(
        self, folder: Path, nursery: Nursery, environment: dict[str, str] | None = None, ini: Path | None = None
    ) -> None:
        super().__init__(folder, environment, ini)
        self._nursery = nursery

    def start(self) -> None:
        arguments = ["pserve", str(self.ini), f"http_listen={self.address}"]
        order = {"environment": self.environment, "log": str(self.log), "folder": str(self.folder)}
        self.process = Child(self._nursery, arguments=arguments, **order)
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"The service did not start:\n{self.log.read_text()}")
            time.sleep(0.01)


def _serve(order) -> None:
    """Become the service; only the fork calls this."""
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    log = os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    from frepo_core.services import failpoints
    from reliability import clock

    importlib.reload(failpoints)  # it has read the nursery's environment
    time.tzset()
    if clock.ENVIRONMENT in os.environ:
        clock.install()
    from pyramid.scripts.pserve import PServeCommand

    PServeCommand(order["arguments"]).run()


def _call(order) -> None:
    """Call a function that the order names; only the fork calls this."""
    module, _, function = order["call"].partition(":")
    getattr(importlib.import_module(module), function)(*order["arguments"])


def main() -> None:
    """Fork when told to, and tell how forks ended."""
    import alembic.command  # noqa: F401
    import waitress.server  # noqa: F401

    import frepo_core.web.server  # noqa: F401
    import frepo_storage_s3.backend  # noqa: F401
    from frepo_core.plugins import PluginRegistry

    PluginRegistry.from_entry_points()
    gc.freeze()  # no fork looks through what is here, and copies it for that
    for line in sys.stdin:
        order = json.loads(line)
        if "poll" in order:
            pid, status = os.waitpid(order["poll"], os.WNOHANG)
            print(status if pid else -1, flush=True)
        elif pid := os.fork():
            print(pid, flush=True)
        else:
            try:
                _call(order) if "call" in order else _serve(order)
            finally:
                os._exit(0)


if __name__ == "__main__":
    main()
