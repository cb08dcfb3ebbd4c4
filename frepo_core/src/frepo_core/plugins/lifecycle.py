"""The lifecycle contract: functions that are called when a process starts and stops serving."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .context import PluginContext
from .settings import require_callable


def _do_nothing(context: PluginContext) -> None:
    """Do nothing."""


@dataclass(frozen=True, kw_only=True)
class Lifecycle:
    """What a plug-in does when a process begins and ends to serve requests.

    - `start(context)`: called once, in the main thread, before the first request. An exception stops the start.
      Threads that it starts must be daemons.
    - `stop(context)`: called once after the last request, in reverse order of the starts. An exception is logged.

    Commands do not call them, except `frepo worker`.
    """

    start: Callable[[PluginContext], Any] = _do_nothing
    stop: Callable[[PluginContext], Any] = _do_nothing

    def __post_init__(self) -> None:
        """Raise `TypeError` for a part that is not a function."""
        require_callable("start", self.start)
        require_callable("stop", self.stop)
