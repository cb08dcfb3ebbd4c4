"""Further storages: several instances of one adapter, each with a name and settings of its own."""

import re
from collections.abc import Collection, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field

from frepo_core.errors import ConfigurationError

from .plugin_settings import read_prefixed
from .types import HARMLESS
from .validation import AnySettings, environment_name

# As long as the columns of the database.
_NAME = re.compile("[a-z][a-z0-9]{0,63}")


class NamedStorage(BaseModel):
    """What frepo itself reads of `storage.<name>.*`; the rest are the settings of the adapter."""

    model_config = ConfigDict(frozen=True, hide_input_in_errors=True, str_strip_whitespace=True)

    adapter: str = Field(
        description="The adapter of this storage; `frepo plugins` lists them.", json_schema_extra=HARMLESS
    )


def load_named_storages(
    names: Sequence[str], installed: Collection[str], ini: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, NamedStorage]:
    """Read `storage.<name>.adapter` of each storage that `storages` names; `installed` are all adapters.

    Raises `ConfigurationError` for a name that is not valid, that is given twice or that an adapter has, and for
    settings of a storage that `storages` does not name.
    """
    for name in names:
        _check_name(name, names, installed)
    for setting in ini:
        if setting.startswith("storage.") and setting.split(".")[1] not in names:
            listed = ", ".join(names) or "nothing"
            raise ConfigurationError(
                f"Unknown setting {setting!r} ({environment_name(setting)}): storages (STORAGES) names {listed}. "
                "Add the name of the storage there, or correct it here"
            )
    return {name: _load_named(name, ini, environment) for name in names}


def load_named_storage_settings(
    model: type[AnySettings], name: str, ini: Mapping[str, str], environment: Mapping[str, str]
) -> AnySettings:
    """Read `storage.<name>.*` and `STORAGE_<NAME>_*` into the model of the adapter's settings.

    Unknown names are refused as by `load_storage_settings`. Raises `ConfigurationError`.
    """
    own = f"storage.{name}.adapter"
    variable = environment_name(own)
    return read_prefixed(
        model,
        f"storage.{name}.",
        {setting: value for setting, value in ini.items() if setting != own},
        {each: value for each, value in environment.items() if each != variable},
    )


def storage_names(ini: Mapping[str, str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Read `storages` alone."""
    text = environment.get("STORAGES") or ini.get("storages", "")
    return tuple(text.replace(",", " ").split())


def adapters_in_use(ini: Mapping[str, str], environment: Mapping[str, str]) -> set[str]:
    """Return the adapters of all configured storages, without a check of any other setting."""

    def value(name: str) -> str:
        return environment.get(environment_name(name)) or ini.get(name) or ""

    names = storage_names(ini, environment)
    first = value("fs.adapter") or "local"
    return {value(f"storage.{name}.adapter") for name in names} | ({first} - set(names))


def _check_name(name: str, names: Sequence[str], installed: Collection[str]) -> None:
    problem = None
    if not _NAME.fullmatch(name):
        problem = "a name has lower-case letters and digits, and begins with a letter"
    elif name == "none":
        problem = "collections name it if they have no second copies"
    elif name in installed:
        problem = "an installed adapter has this name, and so the storage of fs.* with this adapter"
    elif names.count(name) > 1:
        problem = "it is named twice"
    if problem:
        raise ConfigurationError(f"Setting storages (STORAGES): {name!r} cannot be the name of a storage: {problem}")


def _load_named(name: str, ini: Mapping[str, str], environment: Mapping[str, str]) -> NamedStorage:
    own = f"storage.{name}.adapter"
    adapter = environment.get(environment_name(own)) or ini.get(own)
    if not adapter:
        raise ConfigurationError(f"Setting {own} ({environment_name(own)}): is required but not set")
    return NamedStorage(adapter=adapter)
