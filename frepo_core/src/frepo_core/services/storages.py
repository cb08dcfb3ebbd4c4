"""The storage backends by name: one for new blobs, others built when a blob's row names them."""

import os
import threading
from collections.abc import Mapping

from frepo_core.plugins import PluginRegistry, StorageBackend
from frepo_core.settings import load_storage_settings


class Storages:
    """Builds backends from their settings, each once, when it is first needed.

    `reads_back`: what is stored is read again and compared before anybody relies on it.
    """

    def __init__(
        self,
        plugins: PluginRegistry,
        current: str,
        ini: Mapping[str, str],
        environment: Mapping[str, str] = os.environ,
        *,
        reads_back: bool = False,
    ) -> None:
        self.current = current
        self.reads_back = reads_back
        self._plugins = plugins
        self._ini = ini
        self._environment = environment
        self._built: dict[str, StorageBackend] = {}
        self._lock = threading.Lock()
        self.get(current)

    def get(self, name: str) -> StorageBackend:
        """Return the backend; raises `ConfigurationError` where its package or its settings are missing."""
        with self._lock:
            if name not in self._built:
                spec = self._plugins.storage(name)
                settings = load_storage_settings(spec.settings, name, self._ini, self._environment)
                self._built[name] = spec.build(settings)
            return self._built[name]
