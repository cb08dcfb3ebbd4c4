"""Measures the startup times of the console, of a command and of the service."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from support.servers.service import BIN, Service

from .measure import Results, Sizes, alternate, compare, timed
from .world import folder, frepo


def run(results: Results, sizes: Sizes) -> None:
    """Compare each with the start of the Python interpreter."""
    with folder() as where, frepo(where / "running") as service:

        def call(*arguments: str) -> None:
            subprocess.run(arguments, check=True, capture_output=True, env=service.environment, cwd=where)

        frepo_command = str(BIN / "frepo")
        token = [frepo_command, "--ini", str(service.ini), "auth:create-token", "--roles", "upload.all"]
        samples = alternate(
            {
                "pass": timed(lambda: call(sys.executable, "-c", "pass")),
                "help": timed(lambda: call(frepo_command, "--help")),
                "token": timed(lambda: call(*token)),
                "service": lambda: _start(service, where),
            }
        )
    for name, what, reach in (
        ("help", "frepo --help", 8),
        ("token", "frepo auth:create-token", 25),
        ("service", "service start to first answer", 40),
    ):
        results.add(compare("console", f"{what} : python -c pass", samples[name], samples["pass"], reach=reach))


def _start(running: Service, where: Path) -> float:
    """Start a second service on the same state; return the seconds until it answers."""
    second = Service(running.folder, running.environment, ini=running.ini)
    start = time.perf_counter()
    second.process = subprocess.Popen(
        [str(BIN / "pserve"), str(second.ini), f"http_listen={second.address}"],
        env=second.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=where,
    )
    while not second.answers():
        time.sleep(0.005)
    seconds = time.perf_counter() - start
    second.stop(signal.SIGKILL)
    return seconds
