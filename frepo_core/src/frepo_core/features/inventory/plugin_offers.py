"""What plug-ins offer: storages, strategies, checks, jobs, commands and more, and what of it is in use."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points

from frepo_core.domain.structs import struct
from frepo_core.plugins import PluginContext, StrategySpec, UploadCheck
from frepo_core.plugins.discovery import FoundPlugin

from .setting_texts import default_text

# Hooks whose results only the web or a scrape makes.
_LATER = {"frepo_endpoints": "endpoints", "frepo_metrics": "metrics", "frepo_tables": "tables"}


@struct
class Offer:
    """One thing that a plug-in offers: its kind, its name, whether it is in use, and a summary."""

    kind: str
    name: str
    is_used: bool
    summary: str


@struct
class InstalledPlugin:
    """A plug-in: the name of its entry point, its distribution, and the names of the hooks that it implements.

    `is_disabled` is whether `plugins.disabled` names it: its code is not loaded then, so hooks and offers are not
    known.
    """

    name: str
    distribution: str
    version: str
    hooks: Sequence[str] = ()
    offers: Sequence[Offer] = ()
    is_disabled: bool = False


def offers_of(plugin: FoundPlugin, context: PluginContext | None, adapters: Collection[str]) -> Iterator[Offer]:
    """Yield what a plug-in offers; `adapters` are those of the configured storages.

    Every strategy counts as in use: collections choose it.
    """
    for storage in plugin.storages:
        yield _offer("storage", storage.name, storage.summary, is_used=storage.name in adapters)
    for strategy in plugin.strategies:
        yield _offer("strategy", strategy.name, strategy.summary + _options(strategy))
    for check in plugin.upload_checks:
        chosen = _on_finding(check, context)
        summary = f"of {' and '.join(check.applies_to)}; findings: {chosen}"
        yield _offer("upload check", check.name, summary, is_used=chosen != "off")
    for policy in plugin.upload_policies:
        yield _offer("policy", policy.name, f"of {' and '.join(policy.actions)}")
    for subscriber in plugin.subscribers:
        yield _offer("subscriber", subscriber.name, f"of {', '.join(subscriber.kinds)}")
    for notifier in plugin.notifiers:
        yield _offer("notifier", notifier.name, f"for targets {notifier.name}://")
    yield from (_offer("content follower", one.name) for one in plugin.content_followers)
    yield from (_offer("part reader", reader.name, reader.label) for reader in plugin.part_readers)
    yield from (_offer("part restorer", restorer.name) for restorer in plugin.part_restorers)
    yield from (_offer("restore engine", engine.name, engine.label) for engine in plugin.restore_engines)
    for job in plugin.jobs:
        yield _offer("job", job.name, f"{job.summary} ({job.schedule})".strip(), is_used=job.schedule != "off")
    yield from _checks_with_deadline(plugin)
    for spec in plugin.settings:
        yield _offer("settings", spec.prefix, f"see frepo plugins --settings {plugin.name}")
    for pages in plugin.pages():
        yield _offer("pages", pages.path, f"{pages.title}, at /{pages.path}/")
    yield from (_offer("event kind", kind.name, kind.sentence) for kind in plugin.event_kinds)
    for slot in plugin.console_slots:
        yield _offer("console slot", slot.name, f"{slot.title}, at {slot.place}")
    for _ in plugin.lifecycles:
        yield _offer("lifecycle", plugin.name)
    for hook in sorted(plugin.hooks & _LATER.keys()):
        yield _offer(_LATER[hook], plugin.name)


def _checks_with_deadline(plugin: FoundPlugin) -> Iterator[Offer]:
    for kind, checks in (("health check", plugin.health_checks), ("doctor check", plugin.doctor_checks)):
        for each in checks:
            yield _offer(kind, each.name, f"deadline {each.deadline:g} s")


def installed_plugins(
    found: Iterable[FoundPlugin],
    contexts: Mapping[str, PluginContext],
    adapters: Collection[str],
    disabled: Iterable[str] = (),
) -> list[InstalledPlugin]:
    """Return all installed plug-ins by name, also those that are switched off by `disabled`."""
    loaded = [
        InstalledPlugin(
            name=plugin.name,
            distribution=plugin.distribution,
            version=plugin.version,
            hooks=sorted(plugin.hooks),
            offers=[*offers_of(plugin, contexts.get(plugin.name), adapters), *_commands(plugin.distribution)],
        )
        for plugin in found
    ]
    off = [_disabled(entry) for entry in entry_points(group="frepo") if entry.name in set(disabled)]
    return sorted(loaded + off, key=lambda plugin: plugin.name)


def plugin_commands() -> Iterator[EntryPoint]:
    """Yield the commands of all packages but the core."""
    for entry in entry_points(group="frepo.commands"):
        if entry.dist and entry.dist.name != "frepo-core":
            yield entry


def _commands(distribution: str) -> list[Offer]:
    names = [entry.name for entry in plugin_commands() if entry.dist and entry.dist.name == distribution]
    return [_offer("command", name) for name in names]


def _disabled(entry: EntryPoint) -> InstalledPlugin:
    name, version = (entry.dist.name, entry.dist.version) if entry.dist else ("?", "?")
    return InstalledPlugin(name=entry.name, distribution=name, version=version, is_disabled=True)


def _offer(kind: str, name: str, summary: str = "", *, is_used: bool = True) -> Offer:
    return Offer(kind=kind, name=name, is_used=is_used, summary=summary)


def _options(strategy: StrategySpec) -> str:
    """Return the names and defaults of the options of a strategy, as an addition to its summary."""
    fields = strategy.options.model_fields if strategy.options else {}
    options = ", ".join(f"{name}={default_text(field)}" for name, field in fields.items())
    return f" (options: {options})" if options else ""


def _on_finding(check: UploadCheck, context: PluginContext | None) -> str:
    """Return what follows a finding, or the setting that says so; `?` if the settings that decide it are wrong."""
    if not callable(check.on_finding):
        return check.on_finding or "as checks.on_broken says"
    try:
        return str(check.on_finding(context.settings) or "as checks.on_broken says") if context else "?"
    except Exception:  # noqa: BLE001  # the function is the plug-in's
        return "?"
