"""Answers what is installed and in force: plug-ins, settings and storages, and which stored bytes are damaged."""

from collections.abc import Iterator, Mapping

from frepo_core.domain.identity import Identity
from frepo_core.services.base.keyset import Page, PageRequest
from frepo_core.services.foundation import Foundation
from frepo_core.services.upkeep.engine.job_catalog import ScheduledJob

from .damage import DamageRecord, list_damage
from .plugin_offers import InstalledPlugin, installed_plugins
from .settings_in_force import FilledModel, SettingInForce, SettingsInForce
from .storages import StorageContent, StorageRecord, count_contents, list_storages

CORE = "frepo-core"


class Inventory:
    """Lists what is installed and in force. The values of secrets are masked."""

    def __init__(self, base: Foundation, scheduled: Mapping[str, ScheduledJob], in_force: SettingsInForce) -> None:
        self._base = base
        self._scheduled = scheduled
        self._in_force = in_force

    def plugins(self) -> list[InstalledPlugin]:
        """Return the installed plug-ins by name, with those that are switched off."""
        base = self._base
        adapters = {base.backends.adapter(name) for name in base.backends.configured}
        return installed_plugins(base.plugins.found, base.contexts, adapters, base.settings.plugins_disabled)

    def settings(self) -> list[SettingInForce]:
        """Return the settings of the service, its storages, its jobs and its plug-ins, by name."""
        found = [*self._in_force.of_models(self._models()), *self._schedules()]
        return sorted(found, key=lambda setting: setting.name)

    def storages(self) -> list[StorageRecord]:
        """Return the storages by name."""
        return list_storages(self._base.database, self._base.backends, self._base.plugins)

    def contents(self) -> dict[str, StorageContent]:
        """Return what is in each storage by its name. Reads all rows of blobs."""
        return count_contents(self._base.database, self._base.backends)

    def damage(self, page: PageRequest, *, by: Identity) -> Page[DamageRecord]:
        """Return a page of the damaged blobs that the token may see, the latest finding first."""
        return list_damage(self._base.database, self._base.backends, page, by=by)

    def _models(self) -> Iterator[FilledModel]:
        base = self._base
        yield FilledModel(prefix="", model=base.settings, package=CORE)
        packages = {spec.name: plugin.distribution for plugin in base.plugins.found for spec in plugin.storages}
        for name, model in base.backends.in_use.items():
            prefix = base.backends.settings_prefix(name)
            yield FilledModel(prefix=prefix, model=model, package=packages[base.backends.adapter(name)])
        for name, named in base.backends.named.items():
            yield FilledModel(prefix=base.backends.settings_prefix(name), model=named, package=CORE)
        for prefix, owned in base.plugins.settings.items():
            model = base.contexts[owned.plugin.name].settings
            yield FilledModel(prefix=prefix, model=model, package=owned.plugin.distribution)

    def _schedules(self) -> Iterator[SettingInForce]:
        packages = {name: owned.plugin.distribution for name, owned in self._base.plugins.jobs.items()}
        for name, one in self._scheduled.items():
            yield self._in_force.of_job(name, one.schedule.text, one.job.schedule, packages.get(name, CORE))
