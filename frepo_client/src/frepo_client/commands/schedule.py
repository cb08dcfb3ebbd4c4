"""`frepo-client schedule`: start the backups each night."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from typing import Callable

from ..errors import STORED, ClientError
from ..jobs import delay_of
from ..private_files import FOR_ALL, write
from ..schedules import (
    Schedule,
    cron_file,
    kubernetes_cron_job,
    systemd_service,
    systemd_timer,
    windows_task,
)
from .context import Context

# Where each file is written. What has no path is printed.
_FILES: Mapping[str, Mapping[str, Callable[[Schedule], str]]] = {
    "systemd": {
        "/etc/systemd/system/frepo-client.service": systemd_service,
        "/etc/systemd/system/frepo-client.timer": systemd_timer,
    },
    "cron": {"/etc/cron.d/frepo-client": cron_file},
    "kubernetes": {"": kubernetes_cron_job},
    "windows": {"": windows_task},
}
_NEXT = {"systemd": "systemctl daemon-reload && systemctl enable --now frepo-client.timer"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("kind", nargs="?", choices=sorted(_FILES), default="systemd", help="default: systemd")
    parser.add_argument("--at", default="02:00", metavar="HH:MM", help="default: 02:00; `spread` is added")
    parser.add_argument("--print", dest="prints", action="store_true", help="print the files and write none")


def run(context: Context, arguments: argparse.Namespace) -> int:
    """Write the files that start `run`, or print them."""
    jobs = context.configuration.jobs.values()
    schedule = Schedule(
        at=arguments.at,
        spread=max((job.options.spread for job in jobs), default=0.0),
        delay=max((delay_of(job) for job in jobs), default=0.0),
        program=os.path.abspath(sys.argv[0]),
        config=os.path.abspath(context.path),
    )
    for path, text in _FILES[arguments.kind].items():
        if arguments.prints or not path:
            print(f"# {path}\n{text(schedule)}" if path else text(schedule), end="")
            continue
        try:
            write(path, text(schedule), FOR_ALL)
        except OSError as error:
            raise ClientError(f"{path} cannot be written: {error.strerror}; --print shows what it would have") from None
        context.reporter.result(f"{path} is written", {"path": path})
    if arguments.kind in _NEXT and not arguments.prints:
        context.reporter.result(f"Start it: {_NEXT[arguments.kind]}", {"next": _NEXT[arguments.kind]})
    return STORED
