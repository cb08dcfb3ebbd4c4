"""The jobs of the configuration: a backup each, with what is done before and after it."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import socket
import time
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import replace

from .configuration.file import Job
from .errors import COMMAND_FAILED, STORED, ClientError, CommandFailedError
from .measures import measured
from .private_files import FOR_ALL, open_own, write
from .reporter import Reporter
from .server.api import Api
from .stages import Pipeline
from .texts import plain_error
from .uploads.pipe import Dump, Pipe
from .uploads.run_reports import RunReports


def delay_of(job: Job) -> float:
    """Return after how many seconds of `spread` this host begins: always the same, and another one on each host."""
    digest = hashlib.sha256(f"{socket.gethostname()} {job.name}".encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32 * job.options.spread


class JobRunner:
    """Runs jobs with a server."""

    def __init__(self, api: Api, reporter: Reporter, *, strict: bool = False) -> None:
        self._api = api
        self._reporter = reporter
        self._strict = strict

    def run(self, job: Job) -> int:
        """Make the backup of a job and return its exit status."""
        began = time.time()
        self._ping(job, "/start")
        try:
            status = self._back_up(job)
        except Exception as error:  # noqa: BLE001 - a full disk, or what nobody expects: it ends no other job
            status = error.status if isinstance(error, ClientError) else COMMAND_FAILED
            text = str(error) if isinstance(error, (ClientError, OSError)) else plain_error(error)
            values = {"job": job.name, "collection": job.collection, "error": text, "status": status}
            self._reporter.fail(f"{job.name}: {text}", values)
        self._ping(job, "" if status == STORED else "/fail")
        if job.options.metrics_file:
            try:
                write_metrics(job.options.metrics_file, job.name, status, began, time.time())
            except (OSError, ValueError) as error:
                problem = getattr(error, "strerror", None) or error
                self._reporter.fail(f"metrics_file {job.options.metrics_file} cannot be written: {problem}")
        return status

    def _back_up(self, job: Job) -> int:
        reports = RunReports(self._api, self._reporter)
        with reports.reported(job.collection):
            environment = job.environment()
        self._reporter.hide(environment.values())
        dump = Dump(job.collection, job.stages, environment, job.timeout, job.options.spool, job.plain)
        try:
            if job.before:
                with reports.reported(job.collection):
                    self._call(job.before, job, environment, "before")
            with contextlib.ExitStack() as stack:
                with reports.reported(job.collection):
                    stages, numbers = stack.enter_context(measured(job.measures, job.stages, environment))
                outcome = Pipe(self._api, self._reporter).send(replace(dump, stages=stages, measured=numbers))
        finally:
            if job.after:
                try:
                    self._call(job.after, job, environment, "after")
                except (ClientError, OSError) as error:
                    self._reporter.fail(f"{job.name}: {error}")
        self._reporter.stored(f"{job.name}: {outcome.describe(job.collection)}", outcome.version)
        return outcome.status(strict=self._strict)

    def _call(self, command: Sequence[str], job: Job, environment: Mapping[str, str], key: str) -> None:
        with Pipeline([command], environment=environment, timeout=job.timeout) as pipeline:
            for piece in pipeline.pieces(1 << 16):
                os.write(2, piece)
            ended = pipeline.wait()
        if ended.failed:
            raise CommandFailedError(f"{key}: {ended.describe([command])}")

    def _ping(self, job: Job, suffix: str) -> None:
        """Tell a service like Healthchecks that a job began or ended. The backup does not depend on it."""
        if job.options.ping_url:
            try:
                urllib.request.urlopen(job.options.ping_url.rstrip("/") + suffix, timeout=10).close()
            except (OSError, ValueError, http.client.HTTPException) as error:
                self._reporter.say(f"ping_url could not be called: {type(error).__name__}")


def write_metrics(path: str, name: str, status: int, began: float, ended: float) -> None:
    """Write the result of a job for the text file collector of Prometheus' node exporter, others' lines unchanged.

    Raises `OSError`, such as that of a link: its lines, which may be secrets, would be readable for all.
    """
    label = f'{{job="{name}"}}'
    lines = {
        f"frepo_client_exit_status{label}": str(status),
        f"frepo_client_last_run_timestamp_seconds{label}": f"{ended:.0f}",
        f"frepo_client_duration_seconds{label}": f"{ended - began:.1f}",
    }
    if status == STORED:
        lines[f"frepo_client_last_stored_timestamp_seconds{label}"] = f"{ended:.0f}"
    with contextlib.suppress(FileNotFoundError), open(path, "rb", opener=open_own) as file:
        for line in file.read().decode("utf-8", "replace").split("\n"):
            series, blank, value = line.rpartition(" ")
            if blank:
                lines.setdefault(series, value)
    write(path, "".join(f"{series} {value}\n" for series, value in sorted(lines.items())), FOR_ALL)
