"""The storage backends by name: one receives new blobs, the others are built when a blob's row names them."""

import contextlib
import logging
import os
import threading
from collections.abc import Iterable, Mapping

from frepo_core.errors import FrepoError
from frepo_core.plugins import ConfigurationError, StorageBackend, StorageSettings, StorageUnavailable
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import load_storage_settings

from .guarded_storage import GuardedStorage

log = logging.getLogger(__name__)


class Backends:
    """Builds each backend from its settings, once, when it is first needed.

    `current` is the name of the backend for new blobs. `reads_back` says whether each new blob is read again and
    compared before its upload is answered.
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
        self._settings: dict[str, StorageSettings] = {}
        self._uses: dict[str, set[str]] = {}
        self._lock = threading.RLock()  # a storage may ask for another one while it is built
        self.get(current)

    @property
    def current_settings(self) -> StorageSettings:
        """The settings of the backend for new blobs, with its secrets."""
        return self._settings[self.current]

    @property
    def in_use(self) -> Mapping[str, StorageSettings]:
        """The settings of the backends that this process has built, by name, with their secrets."""
        with self._lock:
            return dict(self._settings)

    def get(self, name: str) -> StorageBackend:
        """Return the backend with this name.

        If its package or its settings are missing, raises `ConfigurationError` for the current backend and
        `StorageUnavailable` for any other: the blobs in that one cannot be read until it is configured again.
        """
        with self._lock:
            if name not in self._built:
                try:
                    self._built[name] = self._build(name)
                except ConfigurationError as error:
                    if name == self.current:
                        raise ConfigurationError(f"fs.adapter (FS_ADAPTER) is {name!r}: {error.message}") from error
                    raise StorageUnavailable(
                        f"The storage {name!r}, which holds some of the blobs, cannot be used: {error.message}"
                    ) from error
            return self._built[name]

    def use(self, name: str, *, by: str) -> StorageBackend:
        """Return the backend with this name for the storage `by`, which uses it from now on.

        Raises `ConfigurationError`, also if that one is used by this backend itself.
        """
        with self._lock:
            if by in {name, *self._all_used_by(name)}:
                raise ConfigurationError(
                    f"The storage {by!r} uses the storage {name!r}, which is or uses {by!r} itself"
                )
            self._uses.setdefault(by, set()).add(name)
            if name not in self._built:
                self._built[name] = self._build(name)
            return self._built[name]

    def require_unused(self, name: str, others: Iterable[str] = ()) -> None:
        """Raise `ConfigurationError` if another storage keeps its blobs in this one: the database does not know them.

        `others` are the storages that hold blobs: each is built, so that what it uses is known. One that cannot be
        built is passed over.
        """
        for other in others:
            with contextlib.suppress(FrepoError):
                self.get(other)
        with self._lock:
            users = sorted(user for user, used in self._uses.items() if name in used)
        if users:
            raise ConfigurationError(
                f"The storage {users[0]!r} keeps its blobs in the storage {name!r}, where the database does not know "
                f"them. Name {users[0]!r} instead"
            )

    def _all_used_by(self, name: str) -> set[str]:
        found: set[str] = set()
        left = [name]
        while left:
            new = self._uses.get(left.pop(), set()) - found
            found |= new
            left += new
        return found

    def check_name(self, name: str) -> None:
        """Raise `ConfigurationError`, which lists the installed storages, if no storage has this name."""
        self._plugins.storage(name)

    def close(self) -> None:
        """Close all storages that were built, at the end of the process. Failures are logged."""
        with self._lock:
            built, self._built = self._built, {}
        for backend in built.values():
            try:
                backend.close()
            except FrepoError as error:
                log.error("a storage was not closed: %s", error.message, exc_info=error)

    def _build(self, name: str) -> StorageBackend:
        spec = self._plugins.storage(name)
        settings = self._settings[name] = load_storage_settings(spec.settings, name, self._ini, self._environment)
        backend = self._plugins.build_storage(name, settings, _Others(self, name))
        return GuardedStorage(backend, self._plugins.storage_origin(name))


class _Others:
    """The storages that one of them may use."""

    def __init__(self, backends: Backends, user: str) -> None:
        self._backends = backends
        self._user = user

    def get(self, name: str) -> StorageBackend:
        """See `Storages.get`."""
        return self._backends.use(name, by=self._user)
