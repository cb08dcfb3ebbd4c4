"""The rows that `frepo plugins` shows: what each plug-in offers, and the settings of one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel

from frepo_core.errors import ConfigurationError
from frepo_core.plugins import PluginContext
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.settings import environment_name

from ..plugin_offers import offers_of, plugin_commands
from ..setting_texts import default_text

OFFERS = ("Kind", "Name", "In use", "Entry point", "Package", "Version", "What it is")
SETTINGS = ("Setting", "Variable", "Default", "What it is")
# They would make a table wider than a terminal. Programs get them, and whoever names them with `-c`.
HIDDEN = {"Entry point", "Version", "Variable"}


def offer_rows(
    plugins: PluginRegistry, contexts: Mapping[str, PluginContext], adapters: Collection[str]
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each storage, strategy, check, ... of all plug-ins, and for each of their commands."""
    for plugin in plugins.found:
        for offer in offers_of(plugin, contexts.get(plugin.name), adapters):
            used = "yes" if offer.is_used else "no"
            yield offer.kind, offer.name, used, plugin.name, plugin.distribution, plugin.version, offer.summary
    for entry in plugin_commands():
        if entry.dist:
            yield "command", entry.name, "yes", entry.name, entry.dist.name, entry.dist.version, ""


def setting_rows(plugins: PluginRegistry, name: str) -> Iterator[tuple[str, ...]]:
    """Yield a row for each setting of the plug-in with this name, of its storages too.

    Raises `ConfigurationError` if no plug-in has this name.
    """
    plugin = next((one for one in plugins.found if one.name == name), None)
    if plugin is None:
        installed = ", ".join(sorted(one.name for one in plugins.found))
        raise ConfigurationError(f"No installed plug-in is named {name!r}. Installed: {installed}.")
    models = [(spec.prefix, spec.model) for spec in plugin.settings]
    models += [(f"fs.{storage.name}", storage.settings) for storage in plugin.storages]
    for prefix, model in models:
        yield from _fields(prefix, model)


def _fields(prefix: str, model: type[BaseModel]) -> Iterable[tuple[str, ...]]:
    for field_name, field in model.model_fields.items():
        setting = f"{prefix}.{field_name}"
        yield setting, environment_name(setting), default_text(field), field.description or ""


def for_people(names: Sequence[str], rows: Iterable[Sequence[str]]) -> tuple[list[str], Iterable[Sequence[str]]]:
    """Return the columns that a table shows, and the rows: the variable of a setting is below its name."""
    if names == SETTINGS:
        rows = [(f"{name}\n{variable}", variable, *others) for name, variable, *others in rows]
    return [name for name in names if name not in HIDDEN], rows
