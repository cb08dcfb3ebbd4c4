"""Looks after the uploads of this host in each process that serves: the job runs on one host only."""

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from frepo_core.plugins import FrepoError, PluginContext

if TYPE_CHECKING:
    from .sessions import Sessions

INTERVAL = timedelta(minutes=10)


class Upkeep:
    """A thread that clears the folder, and notes that this host is there, until the process stops."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def start(self, context: PluginContext) -> None:
        """Make the folder for open uploads, or refuse the start."""
        from .sessions import Sessions  # commands import this module, too, and begin no upkeep

        sessions = Sessions(context)
        sessions.place.folder  # noqa: B018  # it is checked and made
        context.service.count_held_bytes(sessions.held_bytes)
        self._stopped = threading.Event()
        arguments = (context, sessions, self._stopped)
        threading.Thread(target=_run, args=arguments, name="frepo-uploads-upkeep", daemon=True).start()

    def stop(self, context: PluginContext) -> None:
        """Stop the thread."""
        self._stopped.set()


def _run(context: PluginContext, sessions: "Sessions", stopped: threading.Event) -> None:
    from .expiry import clear_folder
    from .uploads import now

    # Other hosts take this one for gone if it is silent for `uploads.expire`.
    interval = min(INTERVAL, sessions.settings.expire / 3)
    while not stopped.is_set():
        try:
            clear_folder(sessions, now(), lambda: None)
        except FrepoError as error:
            context.log.warning("the open uploads are looked after again in %s: %s", interval, error)
        except Exception:
            if not stopped.is_set():  # otherwise the process is closing what this uses
                context.log.exception("the open uploads are looked after again in %s", interval)
        stopped.wait(interval.total_seconds())
