"""Runs a body feed in a worker."""

import time
from typing import Any


class FeedTask:
    """A task for a worker: hand over the pieces of a body that have arrived.

    It ends when they are handed over: a slow client keeps no thread. Bodies whose sinks are slow take turns.
    """

    is_heavy = True

    def __init__(self, channel: Any, request: Any) -> None:
        self._channel, self._request = channel, request

    def service(self) -> None:
        """Hand them over, then let the channel read further, or answer what the application has refused."""
        feed = self._request.feed
        is_wanted = False
        try:
            is_wanted = feed.hand_over()
        finally:
            self._channel.last_activity = time.monotonic()  # the client may have waited for this
            if feed.release_worker() and is_wanted:
                self._channel.server.task_dispatcher.add_task(self)
            self._channel.handle_fed(self._request, is_wanted)

    def cancel(self) -> None:
        """Do nothing: the end of the process ends the feed."""


def start_feeding(channel: Any, request: Any) -> None:
    """Hand over what has arrived of a body in a worker, unless one does it already."""
    if request.feed.needs_worker():
        channel.server.task_dispatcher.add_task(FeedTask(channel, request))
