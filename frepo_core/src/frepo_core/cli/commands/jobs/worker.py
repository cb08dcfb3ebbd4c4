"""The command that runs the worker in a process of its own."""

import argparse
import signal
import threading
from typing import Any

from ...base import FrepoCommand


class RunWorker(FrepoCommand):
    """Run jobs and deliver events until SIGTERM or Ctrl-C, for services with worker.in_process = false."""

    examples = ("frepo worker",)

    def take_action(self, arguments: argparse.Namespace) -> None:
        from frepo_core.errors import ReadOnlyError

        services = self.services()
        if services.settings.read_only:
            raise ReadOnlyError("The worker does not run with read_only = true, because it writes to the database")
        stop = threading.Event()

        def request_stop(*_: Any) -> None:
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, request_stop)
        services.build_all()
        services.service_time.start()  # what plug-ins need for their jobs and subscribers
        services.worker.start()
        stop.wait()
        services.worker.stop()
        services.service_time.stop()
        services.database.engine.dispose()
