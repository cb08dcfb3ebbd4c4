"""The storage backends by name: the first one, the further ones of `storages`, and those of older blobs."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from frepo_core.errors import FrepoError
from frepo_core.plugins import ConfigurationError, StorageBackend, StorageSettings, StorageUnavailable
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import NamedStorage, load_named_storage_settings, load_named_storages, load_storage_settings

from ..encodings import Encodings
from .guarded_storage import GuardedStorage
from .journal_comparison import JournalComparison

log = logging.getLogger(__name__)

# What a collection names as its mirror if its versions have no second copies.
NO_MIRROR = "none"


FAILURES = 3
SECONDS = 30.0


class Breaker:
    """What this process knows about the last calls of each storage."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._failures: dict[str, int] = {}
        self._until: dict[str, float] = {}
        self._lock = threading.Lock()

    def skips(self, storage: str) -> bool:
        """Return whether the storage is skipped now: it failed three times, the last time within 30 seconds."""
        return self._monotonic() < self._until.get(storage, 0.0)

    def failed(self, storage: str) -> None:
        """Count a failure. After the 30 seconds, one further failure is enough."""
        with self._lock:
            self._failures[storage] = self._failures.get(storage, 0) + 1
            if self._failures[storage] >= FAILURES:
                self._until[storage] = self._monotonic() + SECONDS

    def worked(self, storage: str) -> None:
        """Forget the failures of the storage."""
        if storage in self._failures:
            with self._lock:
                self._failures.pop(storage, None)
                self._until.pop(storage, None)


class Backends:
    """Builds each backend from its settings, once, when it is first needed.

    `current` is the name of the first storage, which gets the blobs of plain files, and of collections that name no
    other. It is `setting`, that of the settings, until this process follows a promotion of another one: number `epoch`,
    instead of `former`. `named` are the further ones by name; `configured` are the names of all, the first one first.
    `reads_back` says whether each new blob is read again and compared before its upload is answered.
    `breaker` knows which of them fail, `journals` which were compared with the database, and `encodings` decodes what
    they store encoded.
    """

    def __init__(
        self,
        plugins: PluginRegistry,
        current: str,
        ini: Mapping[str, str],
        environment: Mapping[str, str] = os.environ,
        *,
        named: Sequence[str] = (),
        mirror: str = "",
        reads_back: bool = False,
    ) -> None:
        """`current` is the name of an adapter, or one of the names `named`. `mirror` is the one for second copies.

        Raises `ConfigurationError` if the first storage cannot be built, or the settings of another one are wrong.
        """
        self.named: Mapping[str, NamedStorage] = load_named_storages(named, plugins.storages, ini, environment)
        self.setting = current
        self._mirror = mirror
        self.former: str | None = None
        self.epoch = 0
        # The value of the row that names the last promotion which this process follows, see `first_storage`.
        self.promotion = ""
        self.follow(current, former=None, epoch=0)
        self.reads_back = reads_back
        self.breaker = Breaker()
        self.journals = JournalComparison()
        self.encodings = Encodings()
        self._plugins = plugins
        self._ini = ini
        self._environment = environment
        self._built: dict[str, StorageBackend] = {}
        self._settings: dict[str, StorageSettings] = {}
        self._uses: dict[str, set[str]] = {}
        self._lock = threading.RLock()  # a storage may ask for another one while it is built
        self.get(current)
        for name in self.named:
            self._settings[name] = self._load_settings(name)

    def follow(self, name: str, *, former: str | None, epoch: int) -> None:
        """Make another storage the first one in this process, see `first_storage`."""
        self.current, self.former, self.epoch = name, former, epoch
        # The storage for second copies, None without them. If it was promoted, it and the first one change places.
        self.mirror = (former if self._mirror == name else self._mirror) or None
        mirrors = (self._mirror,) if self._mirror else ()
        self.configured = tuple(dict.fromkeys((name, self.setting, *self.named, *mirrors)))

    def mirror_for(self, chosen: str | None) -> str | None:
        """Return where second copies are for a collection that has chosen this mirror: None for the service's."""
        return self.mirror if chosen is None else None if chosen == NO_MIRROR else chosen

    @property
    def current_settings(self) -> StorageSettings:
        """The settings of the storage that `fs.adapter` names, with its secrets."""
        return self._settings[self.setting]

    def adapter(self, name: str) -> str:
        """Return the adapter of a storage."""
        return self.named[name].adapter if name in self.named else name

    def settings_prefix(self, name: str) -> str:
        """Return what the names of the settings of a storage begin with, without the dot."""
        return f"storage.{name}" if name in self.named else f"fs.{name}"

    @property
    def in_use(self) -> Mapping[str, StorageSettings]:
        """The settings of the configured storages and of all others that this process has built, by name.

        They contain secrets.
        """
        with self._lock:
            return dict(self._settings)

    def get(self, name: str) -> StorageBackend:
        """Return the backend with this name.

        If its package or its settings are missing, raises `ConfigurationError` for the first storage and
        `StorageUnavailable` for any other: the blobs in that one cannot be read until it is configured again.
        """
        with self._lock:
            if name not in self._built:
                try:
                    self._built[name] = self._build(name)
                except ConfigurationError as error:
                    raise self._unusable(name, error) from error
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

        `others` are the storages that hold blobs.
        """
        if users := self.find_users(name, others):
            raise ConfigurationError(
                f"The storage {users[0]!r} keeps its blobs in the storage {name!r}, where the database does not know "
                f"them. Name {users[0]!r} instead"
            )

    def find_users(self, name: str, others: Iterable[str] = ()) -> list[str]:
        """Return which storages keep their blobs in this one, directly.

        The configured storages and `others` are built, so that what they use is known. One that cannot be built is
        passed over.
        """
        for other in (*self.configured, *others):
            with contextlib.suppress(FrepoError):
                self.get(other)
        with self._lock:
            return sorted(user for user, used in self._uses.items() if name in used)

    def layers_below(self, name: str) -> set[str]:
        """Return the storages in which this one keeps its blobs, directly or not."""
        with contextlib.suppress(FrepoError):
            self.get(name)
        with self._lock:
            return self._all_used_by(name)

    def are_layers(self, one: str, other: str) -> bool:
        """Return whether one of two storages keeps its blobs in the other one, directly or not."""
        return one in self.layers_below(other) or other in self.layers_below(one)

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
        if name not in self.named:
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
        adapter, settings = self.adapter(name), self._load_settings(name)
        self._settings[name] = settings
        try:
            backend = self._plugins.build_storage(adapter, settings, _Others(self, name))
        except ConfigurationError as error:
            if name not in self.named:
                raise
            text = error.message.replace(f"fs.{adapter}.", f"storage.{name}.")  # storages know the names of one only
            variable = f"STORAGE_{name.upper()}_"
            raise ConfigurationError(text.replace(f"FS_{adapter.upper()}_", variable)) from error
        return GuardedStorage(backend, self._plugins.storage_origin(adapter, name))

    def _unusable(self, name: str, error: ConfigurationError) -> FrepoError:
        if name == self.setting:
            setting = "" if name in self.named else f"fs.adapter (FS_ADAPTER) is {name!r}: "
            return ConfigurationError(setting + error.message)
        which = "" if name in self.named else ", which holds some of the blobs,"
        return StorageUnavailable(f"The storage {name!r}{which} cannot be used: {error.message}")

    def _load_settings(self, name: str) -> StorageSettings:
        try:
            model = self._plugins.storage(self.adapter(name)).settings
        except ConfigurationError as error:
            if name not in self.named:
                raise
            raise ConfigurationError(f"Setting storage.{name}.adapter: {error.message}") from error
        load = load_named_storage_settings if name in self.named else load_storage_settings
        return load(model, name, self._ini, self._environment)


class _Others:
    """The storages that one of them may use."""

    def __init__(self, backends: Backends, user: str) -> None:
        self._backends = backends
        self._user = user

    def get(self, name: str) -> StorageBackend:
        """See `Storages.get`."""
        return self._backends.use(name, by=self._user)
