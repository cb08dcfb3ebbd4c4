"""Which engines there are: those of the settings, of which collections choose one by themselves or by a label."""

from collections.abc import Iterable, Mapping, Sequence

from frepo_core.domain.structs import struct
from frepo_core.errors import ConfigurationError, FieldsError
from frepo_core.plugins import RestoreEngine
from frepo_core.plugins.discovery import CORE
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import Settings


@struct
class Chosen:
    """An engine of a plug-in, and its version, which may be empty."""

    plugin: str
    engine: RestoreEngine
    version: str


class EngineNames:
    """The engines of the settings."""

    def __init__(self, settings: Settings, plugins: PluginRegistry) -> None:
        self.names: Sequence[str] = settings.restore_tests_engines
        self._plugins = plugins
        self._by_label = _by_label(settings.restore_tests_by_label)

    def check(self, name: str) -> None:
        """Raise `FieldsError` for an engine that the settings do not have."""
        if name not in self.names:
            known = ", ".join(self.names) or "none: they are named by restore_tests.engines"
            raise FieldsError({"engine": [f"There is no engine {name!r:.80}. Engines: {known}"]}, FieldsError.FORM)

    def of(self, chosen: str | None, labels: Iterable[str]) -> str | None:
        """Return the engine of a collection: the one that it has chosen, or that of its first label with one."""
        return chosen or next((self._by_label[label] for label in labels if label in self._by_label), None)

    def find(self, name: str) -> Chosen:
        """Return an engine. Raises `ConfigurationError` if the settings do not have it or nothing installed does."""
        kind, _, version = name.partition(":")
        found = self._installed().get(kind)
        if name not in self.names:
            raise ConfigurationError(f"the engine {name} is not in restore_tests.engines")
        if found is None:
            known = ", ".join(sorted(self._installed()))
            raise ConfigurationError(
                f"the engine {kind} is not installed: pip install frepo-restore-{kind}. Installed: {known}"
            )
        if found.engine.needs_version != bool(version):
            text = f"needs a version, such as {kind}:15" if found.engine.needs_version else "has no versions"
            raise ConfigurationError(f"the engine {kind} {text}, see restore_tests.engines")
        return Chosen(plugin=found.plugin, engine=found.engine, version=version)

    def language(self, name: str) -> str:
        """Return what assertions of an engine are written in; empty if there are none. Raises `ConfigurationError`."""
        return self.find(name).engine.language

    def _installed(self) -> Mapping[str, Chosen]:
        from .engines.own import ENGINES

        own = {one.name: Chosen(plugin=CORE, engine=one, version="") for one in ENGINES}
        others = self._plugins.restore_engines.items()
        return {name: Chosen(plugin=one.plugin.name, engine=one.spec, version="") for name, one in others} | own


def _by_label(entries: Sequence[str]) -> Mapping[str, str]:
    pairs = (entry.rpartition("=") for entry in entries)
    return {label: engine for label, _, engine in pairs}
