"""What the installed plug-ins provide, by kind and name. `Any` of pluggy ends here and in `discovery`."""

import inspect
import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, requires
from typing import Any, Generic, Protocol, TypeVar

import pluggy

from frepo_core.domain.event_kinds import EventKind
from frepo_core.errors import ConfigurationError, FrepoError
from frepo_core.settings import core_prefixes, load_plugin_settings

from .context import PluginContext
from .discovery import FoundPlugin, claimed_twice, find_plugins, join_names
from .events.event_kind import PluginEventKind
from .hang_watch import HangWatch
from .service.service import Service
from .settings import SettingsSpec
from .storages.storage import StorageBackend, Storages, StorageSpec
from .strategy import CollectionStrategy, StrategySpec

Spec = TypeVar("Spec")
Named = TypeVar("Named", bound="HasName")
Built = TypeVar("Built")

log = logging.getLogger(__name__)

# A name is a part of environment variables, which cannot contain a dash.
_NAME = re.compile("[a-z][a-z0-9_]*")
# Storages, strategies and entry points could have capitals from the beginning.
_OLD_NAME = re.compile("[A-Za-z][A-Za-z0-9_]*")
# What the names of frepo's own kinds of events begin with.
_OWN_EVENTS = frozenset(kind.partition(".")[0] for kind in EventKind)


class HasName(Protocol):
    """What a plug-in provides under a name."""

    @property
    def name(self) -> str:
        """Return the name."""


@dataclass(frozen=True, kw_only=True)
class Owned(Generic[Spec]):
    """What a plug-in provides, and the plug-in."""

    spec: Spec
    plugin: FoundPlugin


class PluginRegistry:
    """What the installed plug-ins provide, by name. Names are unique among all plug-ins.

    Raises `ConfigurationError` for a plug-in that cannot be imported, a misspelt hook, a name that is not valid or
    that two distributions claim, or a strategy that cannot be built.
    """

    def __init__(self, found: Iterable[FoundPlugin], manager: pluggy.PluginManager | None = None) -> None:
        self.manager = manager
        self.found = tuple(found)
        for plugin in self.found:
            _check_name("plug-in", plugin.name, plugin.distribution, _OLD_NAME)
        self.storages: Mapping[str, StorageSpec] = _specs(
            _by_name(self.found, lambda plugin: plugin.storages, _OLD_NAME)
        )
        self._owned_strategies = _by_name(self.found, lambda plugin: plugin.strategies, _OLD_NAME)
        self.strategies: Mapping[str, StrategySpec] = _specs(self._owned_strategies)
        self.upload_checks = _by_name(self.found, lambda plugin: plugin.upload_checks)
        self.upload_policies = _by_name(self.found, lambda plugin: plugin.upload_policies)
        self.subscribers = _by_name(self.found, lambda plugin: plugin.subscribers)
        self.notifiers = _by_name(self.found, lambda plugin: plugin.notifiers)
        self.content_followers = _by_name(self.found, lambda plugin: plugin.content_followers)
        self.part_readers = _by_name(self.found, lambda plugin: plugin.part_readers)
        self.part_restorers = _by_name(self.found, lambda plugin: plugin.part_restorers)
        self.restore_engines = _by_name(self.found, lambda plugin: plugin.restore_engines)
        self.jobs = _by_name(self.found, lambda plugin: plugin.jobs)
        self.doctor_checks = _by_name(self.found, lambda plugin: plugin.doctor_checks)
        self.health_checks = _by_name(self.found, lambda plugin: plugin.health_checks)
        self.console_slots = _by_name(self.found, lambda plugin: plugin.console_slots)
        self.event_kinds = _event_kinds(self.found)
        self.settings = _by_prefix(self.found)
        for name in self.strategies:
            self.strategy(name)

    @classmethod
    def from_entry_points(cls, disabled: Sequence[str] = ()) -> "PluginRegistry":
        """Load the entry points of the group `frepo`, except those named in `disabled`."""
        manager, found = find_plugins(disabled)
        return cls(found, manager)

    def load_settings(self, ini: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, Any]:
        """Return the filled settings of each plug-in that has some, by the plug-in's name.

        Raises `ConfigurationError` with the names of a wrong or unknown setting in the ini file and the environment.
        """
        models = {prefix: owned.spec.model for prefix, owned in self.settings.items()}
        filled = load_plugin_settings(models, ini, environment)
        return {owned.plugin.name: filled[prefix] for prefix, owned in self.settings.items()}

    def configured(self, contexts: Mapping[str, PluginContext]) -> "PluginRegistry":
        """Return the registry with the policies, subscribers and jobs that depend on settings; `contexts` are by
        plug-in.

        Raises `ConfigurationError` if a hook fails, or a name is not valid or is claimed twice.
        """
        if not any(plugin.with_context for plugin in self.found):
            return self
        configured = copy(self)  # what does not depend on settings was checked, and each strategy built, before
        configured.found = tuple(plugin.configured(contexts[plugin.name]) for plugin in self.found)
        configured.upload_policies = _by_name(configured.found, lambda plugin: plugin.upload_policies)
        configured.subscribers = _by_name(configured.found, lambda plugin: plugin.subscribers)
        configured.jobs = _by_name(configured.found, lambda plugin: plugin.jobs)
        return configured

    def storage(self, name: str) -> StorageSpec:
        """Return the spec of a storage. Raises `ConfigurationError` with the installed names and what to install."""
        if name not in self.storages:
            advice = f"Install the package that provides it, e.g. `pip install {_package_hint(name)}`."
            if meant := _resembling(name, self.storages):
                advice = f"Did you mean {meant!r}? If not: {advice[0].lower()}{advice[1:]}"
            raise ConfigurationError(
                f"No installed package provides the storage {name!r}. Installed: {join_names(self.storages)}. {advice}"
            )
        return self.storages[name]

    def build_storage(self, name: str, settings: Any, storages: Storages) -> StorageBackend:
        """Build a storage; `storages` are the others that it may use.

        Raises `ConfigurationError`, or a `StorageError` of the backend.
        """
        spec = self.storage(name)
        more = {"storages": storages} if _has_parameter(spec.build, "storages") else {}
        return _built(lambda: spec.build(settings, **more), StorageBackend, self.storage_origin(name))

    def storage_origin(self, adapter: str, name: str | None = None) -> str:
        """Name a storage, its plug-in and its package, for messages; `name` is its name, if it has one of its own."""
        owners = [plugin.origin for plugin in self.found if any(spec.name == adapter for spec in plugin.storages)]
        return f"the storage {name or adapter!r} ({owners[0]})" if owners else f"the storage {name or adapter!r}"

    def strategy_origin(self, name: str) -> str:
        """Name a strategy, its plug-in and its package, for messages."""
        owned = self._owned_strategies.get(name)
        return f"the strategy {name!r} ({owned.plugin.origin})" if owned else f"the strategy {name!r}"

    def strategy(self, name: str, *, collection_id: str | None = None) -> CollectionStrategy:
        """Build a strategy. Raises `ConfigurationError` that names the collection if no package provides it."""
        if name not in self.strategies:
            who = f"The collection {collection_id}" if collection_id else "A collection"
            raise ConfigurationError(
                f"{who} uses the strategy {name!r}, but no installed package provides it. "
                f"Installed: {join_names(self.strategies)}. If it was installed since the start, restart the service."
            )
        return _built(self.strategies[name].build, CollectionStrategy, self.strategy_origin(name))


def _by_name(
    found: Iterable[FoundPlugin], offers: Callable[[FoundPlugin], Sequence[Named]], pattern: re.Pattern[str] = _NAME
) -> dict[str, Owned[Named]]:
    owned: dict[str, Owned[Named]] = {}
    for plugin in found:
        for spec in offers(plugin):
            what = type(spec).__name__
            _check_name(what, spec.name, plugin.distribution, pattern)
            if spec.name in owned:
                raise claimed_twice(what, spec.name, owned[spec.name].plugin.distribution, plugin.distribution)
            owned[spec.name] = Owned(spec=spec, plugin=plugin)
    return owned


def _specs(owned: Mapping[str, Owned[Spec]]) -> dict[str, Spec]:
    return {name: one.spec for name, one in owned.items()}


def _by_prefix(found: Iterable[FoundPlugin]) -> dict[str, Owned[SettingsSpec]]:
    """Return the settings of plug-ins by prefix. Raises `ConfigurationError` for a prefix that is taken."""
    owned: dict[str, Owned[SettingsSpec]] = {}
    reserved = core_prefixes()
    for plugin in found:
        for spec in plugin.settings:
            _check_name("prefix of settings", spec.prefix, plugin.distribution, _NAME)
            if spec.prefix in reserved:
                raise ConfigurationError(
                    f"The package {plugin.distribution} names its settings {spec.prefix}.*, a prefix that frepo itself "
                    f"uses. Choose another one in the package, such as {plugin.name!r}."
                )
            if spec.prefix in owned:
                first = owned[spec.prefix].plugin.distribution
                raise claimed_twice("prefix of settings", spec.prefix, first, plugin.distribution)
            owned[spec.prefix] = Owned(spec=spec, plugin=plugin)
    return owned


def _event_kinds(found: Iterable[FoundPlugin]) -> dict[str, Owned[PluginEventKind]]:
    """Return the kinds of events by name. Raises `ConfigurationError` for a name that is not the plug-in's."""
    owned: dict[str, Owned[PluginEventKind]] = {}
    for plugin in found:
        for spec in plugin.event_kinds:
            first, _, word = str(spec.name).partition(".")
            if first != plugin.name or not _NAME.fullmatch(word) or first in _OWN_EVENTS:
                raise ConfigurationError(
                    f"The package {plugin.distribution} names a kind of events {spec.name!r}. Name it after the entry "
                    f"point, such as {plugin.name!r} with '.ended', and not after an object of frepo."
                )
            owned[spec.name] = Owned(spec=spec, plugin=plugin)
    return owned


def _check_name(what: str, name: str, distribution: str, pattern: re.Pattern[str]) -> None:
    if not isinstance(name, str) or not pattern.fullmatch(name):
        letters = "lower-case letters" if pattern is _NAME else "letters"
        raise ConfigurationError(
            f"The package {distribution} names a {what} {name!r}. A name has {letters}, digits and underscores, begins "
            "with a letter, and has no dash. Rename it in the package."
        )


def _built(build: Callable[[], Built], kind: type[Any], origin: str) -> Built:
    """Call `build` of a plug-in and check the type of its result."""
    try:
        with HangWatch(f"`build` of {origin}", log):
            built = build()
    except FrepoError:
        raise
    except (Exception, SystemExit) as error:
        raise ConfigurationError(f"`build` of {origin} failed: {type(error).__name__}: {error}") from error
    if not isinstance(built, kind):
        raise ConfigurationError(f"`build` of {origin} returned {built!r}, which is not a {kind.__name__}.")
    return built


def _has_parameter(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some functions that are written in C have no signature
        return False


def _resembling(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar name: `awss3v3` for `s3`, `local` for `lcoal`."""
    lower = name.lower()
    containing = [one for one in sorted(names) if lower and (lower in one.lower() or one.lower() in lower)]
    return next(iter(containing or get_close_matches(lower, sorted(names), n=1)), None)


def _package_hint(adapter: str) -> str:
    """Return the package of a storage from the extras of the distribution `frepo`, else a conventional name."""
    try:
        requirements = requires("frepo") or []
    except PackageNotFoundError:
        requirements = []
    named = [line for line in requirements if re.search(rf"""extra == ["']{re.escape(adapter)}["']""", line)]
    return re.split(r"[^\w.-]", named[0])[0] if named else f"frepo-storage-{adapter}"


class _Origin(logging.Filter):
    """Puts the plug-in and its package before each message of a logger."""

    def __init__(self, origin: str) -> None:
        super().__init__()
        self._origin = origin

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "plugin", None) != self._origin:  # a record may pass through a logger twice
            record.msg, record.args = f"{self._origin}: {record.getMessage()}", ()
            record.plugin = self._origin
        return True


def make_contexts(
    found: Iterable[FoundPlugin], settings: Mapping[str, Any], service_of: Callable[[str], Service]
) -> dict[str, PluginContext]:
    """Return the context of each plug-in by its name; `settings` are the filled models by the plug-in's name.

    `service_of` makes the facade of the plug-in with a name.
    """
    return {
        plugin.name: PluginContext(
            settings=settings.get(plugin.name), service=service_of(plugin.name), log=_make_log(plugin)
        )
        for plugin in found
    }


def _make_log(plugin: FoundPlugin) -> logging.Logger:
    log = logging.getLogger(f"frepo_core.plugins.{plugin.name}")
    log.filters = [one for one in log.filters if not isinstance(one, _Origin)]  # of an earlier service in this process
    log.addFilter(_Origin(plugin.origin))
    return log
