"""Finds plug-ins by their entry points, calls their hooks with pluggy, and checks what they return."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, TypeVar

import pluggy

from frepo_core.errors import ConfigurationError

from . import hookspecs
from .checks.doctor_check import DoctorCheck
from .checks.health_check import HealthCheck
from .checks.upload_check import UploadCheck
from .checks.upload_policy import UploadPolicy
from .console_slot import ConsoleSlot
from .content_follower import ContentFollower
from .context import PluginContext
from .events.event_kind import PluginEventKind
from .hang_watch import HangWatch
from .job import Job
from .lifecycle import Lifecycle
from .markers import PROJECT
from .notifier import Notifier
from .pages import Pages
from .part_reader import PartReader
from .part_restorer import PartRestorer
from .requirements import find_unmet
from .restore_engine import RestoreEngine
from .settings import SettingsSpec
from .storages.storage import StorageSpec
from .strategy import StrategySpec
from .subscriber import Subscriber
from .tables import Tables

log = logging.getLogger(__name__)

Offer = TypeVar("Offer")

# The name of the plug-in that the core itself is, for its health checks and jobs.
CORE, CORE_DISTRIBUTION = "core", "frepo-core"


def _nothing(context: object) -> Sequence[Any]:
    return ()


@dataclass(frozen=True, kw_only=True)
class FoundPlugin:
    """A loaded plug-in: the name of its entry point, its distribution and what it provides.

    `endpoints`, `pages`, `metrics` and `tables` are called when they are needed, because they import modules that the
    `frepo` does not need. `endpoints` and `metrics` take the plug-in's context. `with_context` returns the policies,
    subscribers and jobs that depend on the plug-in's settings.
    """

    name: str
    distribution: str
    version: str
    storages: Sequence[StorageSpec] = ()
    strategies: Sequence[StrategySpec] = ()
    upload_checks: Sequence[UploadCheck] = ()
    upload_policies: Sequence[UploadPolicy] = ()
    subscribers: Sequence[Subscriber] = ()
    notifiers: Sequence[Notifier] = ()
    content_followers: Sequence[ContentFollower] = ()
    part_readers: Sequence[PartReader] = ()
    part_restorers: Sequence[PartRestorer] = ()
    restore_engines: Sequence[RestoreEngine] = ()
    jobs: Sequence[Job] = ()
    health_checks: Sequence[HealthCheck] = ()
    doctor_checks: Sequence[DoctorCheck] = ()
    settings: Sequence[SettingsSpec] = ()
    lifecycles: Sequence[Lifecycle] = ()
    event_kinds: Sequence[PluginEventKind] = ()
    console_slots: Sequence[ConsoleSlot] = ()
    hooks: frozenset[str] = frozenset()
    endpoints: Callable[[Any], Sequence[Any]] = _nothing
    pages: Callable[[], Sequence[Pages]] = tuple
    metrics: Callable[[Any], Sequence[Any]] = _nothing
    tables: Callable[[], Sequence[Tables]] = tuple
    with_context: Callable[[PluginContext], dict[str, Any]] | None = None

    @property
    def origin(self) -> str:
        """Name the plug-in and its package, for messages."""
        return f"the plug-in {self.name!r} of the package {self.distribution} {self.version}"

    def configured(self, context: PluginContext) -> "FoundPlugin":
        """Return the plug-in with the subscribers and jobs that its settings ask for. Raises `ConfigurationError`."""
        return replace(self, **self.with_context(context)) if self.with_context else self


def find_plugins(disabled: Sequence[str]) -> tuple[pluggy.PluginManager, list[FoundPlugin]]:
    """Load the entry points of the group `frepo`, except those named in `disabled`, and call their hooks.

    Raises `ConfigurationError` for a plug-in that cannot be imported, a misspelt hook, two entry points of one name, or
    a hook that fails or returns something else than the hook is for.
    """
    manager = _make_manager()
    origins: dict[str, tuple[str, str]] = {}
    for entry in sorted_entries():
        origin = (entry.dist.name, entry.dist.version) if entry.dist else ("?", "?")
        if entry.name in disabled:
            log.info("plug-in %s of %s is disabled", entry.name, origin[0])
            continue
        if entry.name in origins:
            raise _installed_twice(entry.name, origins[entry.name][0], origin[0])
        origins[entry.name] = origin
        _check_requirement(entry)
        _register(manager, entry.name, origin[0], entry.load)
    _check_hooks(manager, origins)
    return manager, [_describe(manager, name, *origin) for name, origin in origins.items()]


def describe_core(plugin: object) -> FoundPlugin:
    """Call the hooks that the core itself implements, with the checks that apply to installed plug-ins."""
    manager = _make_manager()
    manager.register(plugin, name=CORE)
    _check_hooks(manager, {CORE: (CORE_DISTRIBUTION, "")})
    return _describe(manager, CORE, CORE_DISTRIBUTION, core_version())


@cache
def core_version() -> str:
    """Return the version of the installed package frepo-core."""
    return version(CORE_DISTRIBUTION)


def _make_manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def sorted_entries() -> list[EntryPoint]:
    """Return the entry points of all installed plug-ins, by name."""
    return sorted(entry_points(group=PROJECT), key=lambda entry: entry.name)


def _register(manager: pluggy.PluginManager, name: str, distribution: str, load: Callable[[], Any]) -> None:
    try:
        with HangWatch(f"the import of the plug-in {name!r} of the package {distribution}", log):
            module = load()
        manager.register(module, name=name)
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"The plug-in {name!r} of the package {distribution} cannot be loaded: {error}. {_remedy(name)}"
        ) from error


def _check_requirement(entry: EntryPoint) -> None:
    """Refuse a package that requires a newer frepo, before a name that is missing here stops its import."""
    unmet = find_unmet(entry.dist, core_version())
    if entry.dist and unmet and unmet.is_newer:
        raise ConfigurationError(
            f"The package {entry.dist.name} {entry.dist.version} requires {unmet.text}, but {unmet.installed} is "
            f"installed. Upgrade frepo, install an earlier version of the package, or switch it off with "
            f"plugins.disabled = {entry.name}."
        )


def _installed_twice(name: str, first: str, second: str) -> ConfigurationError:
    return ConfigurationError(
        f"Two packages provide the plug-in {name!r}: {first} and {second}. Uninstall one of them; plugins.disabled = "
        f"{name} would switch off both."
    )


def _remedy(name: str) -> str:
    return f"Fix or uninstall the package, or switch it off with plugins.disabled = {name}."


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
        f"of frepo. Hooks: {join_names(known)}."
    )


def _describe(manager: pluggy.PluginManager, name: str, distribution: str, version: str) -> FoundPlugin:
    ask = partial(_ask, name, distribution)
    hook = manager.hook
    return FoundPlugin(
        name=name,
        distribution=distribution,
        version=version,
        storages=ask(hook.frepo_storages, StorageSpec),
        strategies=ask(hook.frepo_strategies, StrategySpec),
        upload_checks=ask(hook.frepo_upload_checks, UploadCheck),
        upload_policies=ask(hook.frepo_upload_policies, UploadPolicy, is_early=True),
        subscribers=ask(hook.frepo_subscribers, Subscriber, is_early=True),
        notifiers=ask(hook.frepo_notifiers, Notifier),
        content_followers=ask(hook.frepo_content_followers, ContentFollower),
        part_readers=ask(hook.frepo_part_readers, PartReader),
        part_restorers=ask(hook.frepo_part_restorers, PartRestorer),
        restore_engines=ask(hook.frepo_restore_engines, RestoreEngine),
        jobs=ask(hook.frepo_jobs, Job, is_early=True),
        health_checks=ask(hook.frepo_health_checks, HealthCheck),
        doctor_checks=ask(hook.frepo_doctor_checks, DoctorCheck),
        settings=ask(hook.frepo_settings, SettingsSpec, is_one=True),
        lifecycles=ask(hook.frepo_lifecycle, Lifecycle, is_one=True),
        event_kinds=ask(hook.frepo_event_kinds, PluginEventKind),
        console_slots=ask(hook.frepo_console_slots, ConsoleSlot),
        tables=partial(ask, hook.frepo_tables, Tables, is_one=True),
        hooks=frozenset(caller.name for caller in _callers(manager, name)),
        endpoints=partial(ask, hook.frepo_endpoints, object),
        pages=partial(ask, hook.frepo_pages, Pages),
        metrics=partial(ask, hook.frepo_metrics, object),
        with_context=_configuration(hook, name, ask),
    )


def _configuration(
    hook: Any, name: str, ask: Callable[..., Sequence[Any]]
) -> Callable[[PluginContext], dict[str, Any]] | None:
    """Return a function that calls the hooks with a parameter `context` of this plug-in; None without such hooks."""
    kinds = {
        "upload_policies": (hook.frepo_upload_policies, UploadPolicy),
        "subscribers": (hook.frepo_subscribers, Subscriber),
        "jobs": (hook.frepo_jobs, Job),
    }
    own = {field: kind for field, kind in kinds.items() if any(map(_takes_context, _implementations(kind[0], name)))}
    return (lambda context: {field: ask(*kind, context) for field, kind in own.items()}) if own else None


def _implementations(caller: pluggy.HookCaller, name: str) -> list[pluggy.HookImpl]:
    return [implementation for implementation in caller.get_hookimpls() if implementation.plugin_name == name]


def _takes_context(implementation: pluggy.HookImpl) -> bool:
    return "context" in implementation.argnames


def _ask(
    name: str,
    distribution: str,
    caller: pluggy.HookCaller,
    kind: type[Offer],
    context: object = None,
    *,
    is_one: bool = False,
    is_early: bool = False,
) -> list[Offer]:
    """Call one plug-in's implementations of a hook. Raises `ConfigurationError` if one fails or returns another type.

    `is_one` is whether the hook returns one object and not a list of them. `is_early` is whether there are no contexts
    yet: an implementation that takes one is called later.
    """
    own = [each for each in _implementations(caller, name) if not (is_early and _takes_context(each))]
    offers: list[Any] = []
    try:
        for implementation in own:
            with HangWatch(f"{caller.name} of the plug-in {name!r} of the package {distribution}", log):
                answer: Any = implementation.function(*([context] if _takes_context(implementation) else []))
            offers += [answer] if is_one else answer
        if odd := [offer for offer in offers if not isinstance(offer, kind)]:
            raise TypeError(f"{odd[0]!r} is not a {kind.__name__}")
    except (Exception, SystemExit) as error:
        raise ConfigurationError(
            f"{caller.name!r} of the plug-in {name!r} ({distribution}) does not work: {error}. {_remedy(name)}"
        ) from error
    return offers


def claimed_twice(what: str, name: str, first: str, second: str) -> ConfigurationError:
    """Return the error for a name that two packages provide."""
    return ConfigurationError(
        f"Two packages provide the {what} {name!r}: {first} and {second}. Uninstall one of them, "
        "or switch one plug-in off with plugins.disabled."
    )


def join_names(names: Iterable[str]) -> str:
    """Return names as a text, for messages."""
    return ", ".join(sorted(names)) or "none"
