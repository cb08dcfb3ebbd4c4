"""Workers as processes of their own, whose subscribers and job write what they do into files."""

import contextlib
import json
import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from frepo_core.db import Database, make_engine
from frepo_core.plugins import Event, Job, JobContext, PluginContext, Subscriber
from frepo_core.services.base.lease import LeaseTerms
from frepo_core.services.events.masking import Mask
from frepo_core.services.upkeep.engine.job_catalog import schedule_jobs
from frepo_core.services.upkeep.engine.worker import Worker
from support.servers.fork_server import ForkedProcess, ForkServer

STOP_SECONDS = 60


def run(url: str, folder: str, lease: float) -> None:
    """Run a worker until SIGTERM; only a fork calls this."""
    worker = make_worker(Database(make_engine(url)), Path(folder), lease)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    worker.start()
    stop.wait()
    worker.stop(1.0)  # not longer for the subscriber that hangs


def make_worker(database: Database, folder: Path, lease: float) -> Worker:
    """Return a worker with subscribers that record, fail, hang and are slow, and a job that takes a while."""
    context = PluginContext(settings=None, service=None, log=logging.getLogger("test"))  # type: ignore[arg-type]

    def note(event: Event, context: PluginContext) -> None:
        _write(folder / "handled", {"id": event.id, "position": event.position, "pid": os.getpid()})

    def fail(event: Event, context: PluginContext) -> None:
        raise RuntimeError("it always fails")

    def hang(event: Event, context: PluginContext) -> None:
        time.sleep(3600)

    def take_a_while(context: JobContext) -> dict[str, Any]:
        start = time.monotonic()
        time.sleep(0.3)
        _write(folder / "runs", {"start": start, "end": time.monotonic(), "pid": os.getpid()})
        return {}

    handlers = {"note": note, "fail": fail, "hang": hang}
    subscribers = {
        name: (Subscriber(name=name, kinds=["*"], handle=handler), context) for name, handler in handlers.items()
    }
    jobs = schedule_jobs([(Job(name="tick", schedule="every 1s", run=take_a_while), context)], {}, "UTC")
    return Worker(database, jobs=jobs, subscribers=subscribers, mask=Mask(), terms=LeaseTerms(length=lease))


@contextlib.contextmanager
def running(fork_server: ForkServer, count: int, url: str, folder: Path, lease: float) -> Iterator[list[ForkedProcess]]:
    """Run several workers on one database until the end of the block."""
    processes = [
        ForkedProcess(fork_server, call="support.reliability.workers:run", arguments=[url, str(folder), lease])
        for _ in range(count)
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.send_signal(signal.SIGCONT)
            process.send_signal(signal.SIGTERM)
        for process in processes:
            process.wait(STOP_SECONDS)


def read(folder: Path, name: str) -> list[dict[str, Any]]:
    """Return what the workers wrote into a file, in order."""
    path = folder / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def _write(path: Path, line: dict[str, Any]) -> None:
    """Append a line at once, so that lines of several processes do not mix."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(file, f"{json.dumps(line)}\n".encode())
    os.close(file)
