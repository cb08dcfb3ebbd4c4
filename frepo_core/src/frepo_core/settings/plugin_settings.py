"""Reads and validates the settings of plug-ins and of storages: those that begin with their prefix."""

from collections.abc import Collection, Mapping

from pydantic import BaseModel

from .misspellings import warn_about_misspellings
from .validation import AnySettings, environment_name, fill_model, unknown_setting

# Set by systemd for services, not by operators.
FOREIGN_VARIABLES = frozenset({"NOTIFY_SOCKET"})


def load_storage_settings(
    model: type[AnySettings], adapter: str, ini: Mapping[str, str], environment: Mapping[str, str]
) -> AnySettings:
    """Read `fs.<adapter>.<name>` and `FS_<ADAPTER>_<NAME>` into the backend's model.

    Unknown names are refused in the environment as well: a variable with this prefix must be a misspelt setting.
    """
    return read_prefixed(model, f"fs.{adapter}.", ini, environment)


def load_plugin_settings(
    models: Mapping[str, type[BaseModel]], ini: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, BaseModel]:
    """Read `<prefix>.<name>` and `<PREFIX>_<NAME>` into the model of each prefix; return the models by prefix.

    Unknown names are refused as for storages. Raises `ConfigurationError`.
    """
    variables = {environment_name(f"{prefix}.{name}") for prefix in models for name in models[prefix].model_fields}
    foreign = variables | FOREIGN_VARIABLES
    return {prefix: read_prefixed(model, f"{prefix}.", ini, environment, foreign) for prefix, model in models.items()}


def read_prefixed(
    model: type[AnySettings],
    prefix: str,
    ini: Mapping[str, str],
    environment: Mapping[str, str],
    foreign: Collection[str] = (),
) -> AnySettings:
    """Fill a model from settings that begin with a prefix. `foreign` are variables with this prefix to ignore.

    Raises `ConfigurationError`.
    """
    names = {prefix + name for name in model.model_fields}
    own = {name: value for name, value in ini.items() if name.startswith(prefix)}
    known = {environment_name(name) for name in names}
    for variable in environment:
        is_named = variable.startswith(environment_name(prefix)) and variable not in foreign
        if environment[variable] and is_named and variable not in known:
            raise unknown_setting(prefix + variable.removeprefix(environment_name(prefix)).lower(), names)
    warn_about_misspellings(environment, known)
    return fill_model(model, own, names, environment, prefix=prefix)
