"""The typed facade over pluggy: loads plug-ins from entry points and gives access to what they provide."""

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib.metadata import PackageNotFoundError, entry_points, requires
from typing import Any, TypeVar, cast

import pluggy

from frepo_core.errors import ConfigurationError, FrepoError

from . import hookspecs
from .storage import StorageBackend, StorageSpec
from .strategy import CollectionStrategy, StrategySpec

log = logging.getLogger(__name__)

Spec = TypeVar("Spec", StorageSpec, StrategySpec)
Offer = TypeVar("Offer")
Built = TypeVar("Built")

# A name is a part of environment variables, FS_<NAME>_<SETTING>, which cannot contain a dash.
_NAME = re.compile("[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True, kw_only=True)
class FoundPlugin:
    """A loaded plug-in: the name of its entry point, its distribution and what it provides.

    Only the web calls `endpoints`, because it imports modules that the console does not need.
    """

    name: str
    distribution: str
    version: str
    storages: Sequence[StorageSpec]
    strategies: Sequence[StrategySpec]
    endpoints: Callable[[], Sequence[Any]] = tuple

    @property
    def origin(self) -> str:
        """Name the plug-in and its package, for messages."""
        return f"the plug-in {self.name!r} of the package {self.distribution} {self.version}"


class PluginRegistry:
    """The storages and strategies of the installed plug-ins, by name.

    Raises `ConfigurationError` for a plug-in that cannot be imported, a misspelt hook, a name that is not valid or
    that two distributions claim, or a strategy that cannot be built.
    """

    def __init__(self, found: Iterable[FoundPlugin]) -> None:
        self.found = tuple(found)
        self.storages: Mapping[str, StorageSpec] = _by_name(self.found, lambda plugin: plugin.storages)
        self.strategies: Mapping[str, StrategySpec] = _by_name(self.found, lambda plugin: plugin.strategies)
        for name in self.strategies:
            self.strategy(name)

    @classmethod
    def from_entry_points(cls, disabled: Sequence[str] = ()) -> "PluginRegistry":
        """Load the entry points of the group `frepo`, except those named in `disabled`."""
        manager = pluggy.PluginManager(hookspecs.PROJECT)
        manager.add_hookspecs(hookspecs)
        origins: dict[str, tuple[str, str]] = {}
        for entry in sorted(entry_points(group=hookspecs.PROJECT), key=lambda entry: entry.name):
            origin = (entry.dist.name, entry.dist.version) if entry.dist else ("?", "?")
            if entry.name in disabled:
                log.info("plug-in %s of %s is disabled", entry.name, origin[0])
                continue
            if entry.name in origins:
                raise _claimed_twice("plug-in", entry.name, origins[entry.name][0], origin[0])
            origins[entry.name] = origin
            _check_name("plug-in", entry.name, origin[0])
            _register(manager, entry.name, origin[0], entry.load)
        _check_hooks(manager, origins)
        return cls(_describe(manager, name, *origin) for name, origin in origins.items())

    def storage(self, name: str) -> StorageSpec:
        """Return the spec of a storage. Raises `ConfigurationError` with the installed names and the package to install."""
        if name not in self.storages:
            advice = f"Install the package that provides it, e.g. `pip install {_package_hint(name)}`."
            if meant := _resembling(name, self.storages):
                advice = f"Did you mean {meant!r}? If not: {advice[0].lower()}{advice[1:]}"
            raise ConfigurationError(
                f"No installed package provides the storage {name!r}. Installed: {_names(self.storages)}. {advice}"
            )
        return self.storages[name]

    def build_storage(self, name: str, settings: Any) -> StorageBackend:
        """Build a storage. Raises `ConfigurationError`, or a `StorageError` of the backend."""
        spec = self.storage(name)
        return _built(lambda: spec.build(settings), StorageBackend, self.storage_origin(name))

    def storage_origin(self, name: str) -> str:
        """Name a storage, its plug-in and its package, for messages."""
        owners = [plugin.origin for plugin in self.found if any(spec.name == name for spec in plugin.storages)]
        return f"the storage {name!r} ({owners[0]})" if owners else f"the storage {name!r}"

    def strategy_origin(self, name: str) -> str:
        """Name a strategy, its plug-in and its package, for messages."""
        owners = [plugin.origin for plugin in self.found if any(spec.name == name for spec in plugin.strategies)]
        return f"the strategy {name!r} ({owners[0]})" if owners else f"the strategy {name!r}"

    def strategy(self, name: str) -> CollectionStrategy:
        """Build a strategy. Raises `ConfigurationError` if its package is not installed."""
        if name not in self.strategies:
            raise ConfigurationError(
                f"A collection uses the strategy {name!r}, but no installed package provides it. "
                f"Installed: {_names(self.strategies)}."
            )
        return _built(self.strategies[name].build, CollectionStrategy, self.strategy_origin(name))


def _register(manager: pluggy.PluginManager, name: str, distribution: str, load: Callable[[], Any]) -> None:
    try:
        manager.register(load(), name=name)
    except Exception as error:
        raise ConfigurationError(
            f"The plug-in {name!r} of the package {distribution} cannot be loaded: {error}. "
            f"Fix or uninstall the package, or switch it off with plugins.disabled = {name}."
        ) from error


def _check_hooks(manager: pluggy.PluginManager, origins: Mapping[str, tuple[str, str]]) -> None:
    """Refuse a plug-in with a function `frepo_...` that is not a hook.

    pluggy sees marked functions only, so this also finds a forgotten `@hookimpl`.
    """
    known = {name for name in dir(hookspecs) if name.startswith("frepo_")}
    marked_names = [(name, caller.name) for name in origins for caller in _callers(manager, name)]
    for name, hook in marked_names:
        if hook not in known:
            raise _no_hook(name, origins[name][0], hook, known)
    for name, (distribution, _) in origins.items():
        plugin = manager.get_plugin(name)
        for attribute in (a for a in dir(plugin) if a.startswith("frepo_") and callable(getattr(plugin, a))):
            marked = getattr(getattr(plugin, attribute), "frepo_impl", None)
            if attribute not in known:
                raise _no_hook(name, distribution, attribute, known)
            if marked is None:
                raise ConfigurationError(
                    f"{attribute!r} of the plug-in {name!r} ({distribution}) lacks the decorator @hookimpl."
                )


def _callers(manager: pluggy.PluginManager, name: str) -> Sequence[pluggy.HookCaller]:
    return manager.get_hookcallers(manager.get_plugin(name)) or ()


def _no_hook(name: str, distribution: str, hook: str, known: Iterable[str]) -> ConfigurationError:
    return ConfigurationError(
        f"The plug-in {name!r} of the package {distribution} implements {hook!r}, which is not a hook "
        f"of frepo. Hooks: {_names(known)}."
    )


def _describe(manager: pluggy.PluginManager, name: str, distribution: str, version: str) -> FoundPlugin:
    def ask(caller: pluggy.HookCaller, kind: type[Offer]) -> list[Offer]:
        own = [implementation for implementation in caller.get_hookimpls() if implementation.plugin_name == name]
        try:
            specs = [spec for implementation in own for spec in cast(list[Any], implementation.function())]
            if odd := [spec for spec in specs if not isinstance(spec, kind)]:
                raise TypeError(f"{odd[0]!r} is not a {kind.__name__}")
        except Exception as error:
            raise ConfigurationError(
                f"{caller.name!r} of the plug-in {name!r} ({distribution}) does not work: {error}. "
                f"Fix or uninstall the package, or switch it off with plugins.disabled = {name}."
            ) from error
        return specs

    return FoundPlugin(
        name=name,
        distribution=distribution,
        version=version,
        storages=ask(manager.hook.frepo_storages, StorageSpec),
        strategies=ask(manager.hook.frepo_strategies, StrategySpec),
        endpoints=partial(ask, manager.hook.frepo_endpoints, object),
    )


def _by_name(found: Iterable[FoundPlugin], offers: Callable[[FoundPlugin], Sequence[Spec]]) -> dict[str, Spec]:
    specs: dict[str, Spec] = {}
    owners: dict[str, str] = {}
    for plugin in found:
        for spec in offers(plugin):
            _check_name(type(spec).__name__, spec.name, plugin.distribution)
            if spec.name in specs:
                raise _claimed_twice(type(spec).__name__, spec.name, owners[spec.name], plugin.distribution)
            specs[spec.name] = spec
            owners[spec.name] = plugin.distribution
    return specs


def _check_name(what: str, name: str, distribution: str) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ConfigurationError(
            f"The package {distribution} names a {what} {name!r}. A name has letters, digits and underscores, begins "
            "with a letter, and has no dash. Rename it in the package."
        )


def _built(build: Callable[[], Built], kind: type[Any], origin: str) -> Built:
    """Call `build` of a plug-in and check the type of its result."""
    try:
        built = build()
    except FrepoError:
        raise
    except Exception as error:
        raise ConfigurationError(f"`build` of {origin} failed: {type(error).__name__}: {error}") from error
    if not isinstance(built, kind):
        raise ConfigurationError(f"`build` of {origin} returned {built!r}, which is not a {kind.__name__}.")
    return built


def _claimed_twice(what: str, name: str, first: str, second: str) -> ConfigurationError:
    return ConfigurationError(
        f"Two packages provide the {what} {name!r}: {first} and {second}. Uninstall one of them, "
        "or switch one plug-in off with plugins.disabled."
    )


def _names(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"


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
