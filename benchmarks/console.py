"""Measures the startup times of `frepo`, of its commands and of the service, and the memory of an idle service."""

import signal
import subprocess
import time
from pathlib import Path

from support.servers.service import BIN, Service

from .harness.measure import Results, Sizes, alternate, compare_with_goal, timed
from .harness.world import folder, frepo
from .memory import status

# Maxima in seconds and bytes. They depend on the machine, unlike the ratios.
GOALS = (("frepo --help", 0.08), ("frepo auth:list", 0.3), ("service start to first answer", 0.5))
IDLE_MEMORY = 90 << 20


def run(results: Results, sizes: Sizes) -> None:
    """Compare each with its goal."""
    with folder() as where, frepo(where / "running") as service:
        service.stop()  # the first start migrated the database, for which Alembic stays in memory
        service.start()

        def call(*arguments: str) -> None:
            subprocess.run(arguments, check=True, capture_output=True, env=service.environment, cwd=where)

        command = str(BIN / "frepo")
        listing = [command, "--ini", str(service.ini), "auth:list"]
        samples = alternate(
            {
                "frepo --help": timed(lambda: call(command, "--help")),
                "frepo auth:list": timed(lambda: call(*listing)),
                "service start to first answer": lambda: _start(service, where),
                "memory of an idle process": lambda: status(service.pid)["VmRSS"],
            }
        )
    for name, goal in GOALS:
        results.add(compare_with_goal("console", f"{name} : {goal * 1000:.0f} ms", samples[name], goal))
    name = "memory of an idle process"
    text = f"{name} : {IDLE_MEMORY >> 20} MiB"
    results.add(compare_with_goal("console", text, samples[name], IDLE_MEMORY, unit="B"))


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
