"""`frepo-client check`: try everything but the dump."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import stat
from collections.abc import Iterator

from ..configuration.file import Job
from ..errors import ClientError
from ..server.api import Api
from ..uploads.spool import Spool
from .context import Context

_UPLOAD = "version.upload"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments: none."""


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Print what is right and what is wrong. Exit status 2 if something is wrong."""
    api = context.api_now()
    me = api.get("/api/v1")
    token = me.get("token") or {}
    context.reporter.result(f"{context.url} answers; the token is {token.get('name') or token.get('fingerprint')}", me)
    problems = [*_open_files(context)]
    seen = api.collections()
    if not seen:
        problems.append("the token sees no collection; `frepo backup:grant` puts it on the list of one")
    for collection in seen:
        context.reporter.result(f"it sees {collection['name']} ({collection['id']})", collection)
    for job in context.configuration.jobs.values():
        problems += [f"{job.name}: {problem}" for problem in _problems(api, job)]
    problems += [f"{job.name}: {job.error}" for job in context.configuration.wrong_jobs.values()]
    for spool in {job.options.spool for job in context.configuration.jobs.values() if job.options.spool}:
        problems += [f"{path} waits in the spool" for path in Spool(spool, api, context.reporter).waiting()]
    if not context.configuration.jobs and not context.configuration.wrong_jobs:
        context.reporter.say("there are no jobs, so `run` makes no backup; write [job.shop] into the configuration")
    for problem in problems:
        context.reporter.fail(problem)
    if not problems:
        context.reporter.result("All is well", {"problems": []})
    return 2 if problems else 0


def _open_files(context: Context) -> Iterator[str]:
    """Yield what is wrong with files that have secrets. Windows has no such modes."""
    files = {context.token_file, *(job.env_file for job in context.configuration.jobs.values())}
    for path in sorted(files - {""}):
        with contextlib.suppress(OSError):  # a missing one is named below
            if os.name == "posix" and os.stat(path).st_mode & stat.S_IROTH:
                yield f"every user of this machine can read {path}: chmod 600 {path}"


def _problems(api: Api, job: Job) -> Iterator[str]:
    for stage in [*job.stages, *job.restore_test, *[command for command in (job.before, job.after) if command]]:
        if not shutil.which(stage[0]):
            yield f"the program {stage[0]} is missing on this machine; install it"
    try:
        job.environment()
        if _UPLOAD not in (api.collection(job.collection).get("may") or [_UPLOAD]):
            yield f"the token may not upload to {job.collection}"
    except ClientError as error:
        yield str(error)
