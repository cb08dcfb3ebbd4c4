"""The time in which a process serves: what starts and stops around it, and storages are closed."""

import logging
import threading
from collections.abc import Mapping, Sequence

from frepo_core.errors import ConfigurationError, FrepoError
from frepo_core.plugins import Lifecycle, PluginContext
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.plugins.hang_watch import HangWatch
from frepo_core.plugins.registry import PluginRegistry

from ..access.token_last_use import UseRecorder
from ..base.plugin_failures import PLUGIN_FAILURES, describe_failure, raise_interrupt
from ..content.storages.backends import Backends
from ..content.storages.storage_watch import StorageWatch
from ..upkeep.engine.worker import Worker

log = logging.getLogger(__name__)


class ServiceTime:
    """Starts and stops the worker, the recorder of the uses of tokens, and what plug-ins run in a process that serves.

    Both may be called again, and do nothing then.
    """

    def __init__(
        self,
        plugins: PluginRegistry,
        contexts: Mapping[str, PluginContext],
        backends: Backends,
        recorder: UseRecorder,
        worker: Worker | None = None,
        watches: Sequence[StorageWatch] = (),
    ) -> None:
        """`worker` is started after the plug-ins, and stopped before them. `recorder` stops last.

        `watches` is empty for a service that stores nothing.
        """
        self._plugins = plugins
        self._contexts = contexts
        self._backends = backends
        self._recorder = recorder
        self._worker = worker
        self._watches = watches
        self._lock = threading.Lock()
        self._started: list[tuple[FoundPlugin, Lifecycle]] = []
        self._is_running = False

    def start(self) -> None:
        """Call `start` of each lifecycle, and start the worker.

        Raises `ConfigurationError` that names the package if one fails; those that started before are stopped.
        """
        with self._lock:
            if self._is_running:
                return
            self._is_running = True
        self._recorder.start()
        for watch in self._watches:
            watch.start()
        for plugin in self._plugins.found:
            for lifecycle in plugin.lifecycles:
                try:
                    with HangWatch(f"the start of {plugin.origin}", log):
                        lifecycle.start(self._contexts[plugin.name])
                except PLUGIN_FAILURES as error:
                    self.stop()
                    raise_interrupt(error)
                    told = error.message if isinstance(error, FrepoError) else describe_failure(error)
                    raise ConfigurationError(f"{plugin.origin} cannot start: {told}") from error
                self._started.append((plugin, lifecycle))
        if self._worker is not None:
            self._worker.start()

    def stop(self) -> None:
        """Stop the worker, call `stop` of each lifecycle that started, the last one first, and close the storages.

        Failures are logged.
        """
        with self._lock:
            if not self._is_running:
                return
            self._is_running = False
        if self._worker is not None:
            self._worker.stop()
        while self._started:
            plugin, lifecycle = self._started.pop()
            try:
                with HangWatch(f"the stop of {plugin.origin}", log):
                    lifecycle.stop(self._contexts[plugin.name])
            except PLUGIN_FAILURES:
                log.exception("%s did not stop", plugin.origin)
        self._recorder.stop()
        for watch in self._watches:
            watch.stop()
        self._backends.close()
