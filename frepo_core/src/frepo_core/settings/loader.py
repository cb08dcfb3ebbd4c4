"""Reads settings. The environment overrides the ini file, which overrides the default. Unknown names are refused."""

from collections.abc import Collection, Mapping
from typing import TypeVar

from pydantic import BaseModel, SecretStr, ValidationError

from frepo_core.errors import ConfigurationError

from .misspellings import warn_about_misspellings
from .model import Settings
from .secrets import read_or_make_secrets

AnySettings = TypeVar("AnySettings", bound=BaseModel)

# Set by systemd for services, not by operators.
FOREIGN_VARIABLES = frozenset({"NOTIFY_SOCKET"})
SECRETS = ("app.secret", "enc.token_phrase")


def environment_name(name: str) -> str:
    """Return the environment variable of a setting: `fs.local.directory` becomes `FS_LOCAL_DIRECTORY`."""
    return name.upper().replace(".", "_")


def load_settings(ini: Mapping[str, str], environment: Mapping[str, str], *, others: Collection[str] = ()) -> Settings:
    """Read the service's own settings; `fs.<adapter>.*` and `pyramid.*` are ignored here.

    `others` are the prefixes of the settings of plug-ins; they are ignored, too.
    Raises `ConfigurationError`, which gives the setting's names in the ini file and in the environment.
    """
    names = {field.alias for field in Settings.model_fields.values() if field.alias}
    own = {
        name: value
        for name, value in ini.items()
        if name in names or not (_belongs_to_others(name) or name.partition(".")[0] in others)
    }
    warn_about_misspellings(environment, {environment_name(name) for name in names})
    settings = _with_secrets(_fill(Settings, own, names, environment, prefix=""))
    if settings.app_env == "prod" and "database_url" not in settings.model_fields_set:
        raise ConfigurationError(
            "With app.env = prod, database.url (DATABASE_URL) must be set, "
            "e.g. postgresql://frepo:PASSWORD@127.0.0.1/frepo. Check its spelling"
        )
    return settings


def load_storage_settings(
    model: type[AnySettings], adapter: str, ini: Mapping[str, str], environment: Mapping[str, str]
) -> AnySettings:
    """Read `fs.<adapter>.<name>` and `FS_<ADAPTER>_<NAME>` into the backend's model.

    Unknown names are refused in the environment as well: a variable with this prefix must be a misspelt setting.
    """
    return _load_prefixed(model, f"fs.{adapter}.", ini, environment)


def load_plugin_settings(
    models: Mapping[str, type[BaseModel]], ini: Mapping[str, str], environment: Mapping[str, str]
) -> dict[str, BaseModel]:
    """Read `<prefix>.<name>` and `<PREFIX>_<NAME>` into the model of each prefix; return the models by prefix.

    Unknown names are refused as for storages. Raises `ConfigurationError`.
    """
    variables = {environment_name(f"{prefix}.{name}") for prefix in models for name in models[prefix].model_fields}
    foreign = variables | FOREIGN_VARIABLES
    return {prefix: _load_prefixed(model, f"{prefix}.", ini, environment, foreign) for prefix, model in models.items()}


def load_job_schedules(
    jobs: Collection[str], ini: Mapping[str, str], environment: Mapping[str, str], *, may_be_unknown: bool = False
) -> dict[str, str]:
    """Read the schedules `jobs.<name>` of these jobs; return the texts of those that are set, by the job's name.

    Raises `ConfigurationError` for the name of a job that does not exist, unless `may_be_unknown`: a plug-in that is
    switched off may have it.
    """
    names = {f"jobs.{job}" for job in jobs}
    settings = {field.alias for field in Settings.model_fields.values() if field.alias}
    for name in ini:
        if name.startswith("jobs.") and name not in names | settings and not may_be_unknown:
            raise _unknown(name, names | {each for each in settings if each.startswith("jobs.")})
    others = {environment_name(name) for name in settings}
    warn_about_misspellings(
        {variable: value for variable, value in environment.items() if variable not in others},
        {environment_name(name) for name in names},
    )
    texts = {job: environment.get(environment_name(f"jobs.{job}")) or ini.get(f"jobs.{job}", "") for job in jobs}
    return {job: text for job, text in texts.items() if text}


def load_disabled_plugins(ini: Mapping[str, str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Read `plugins.disabled` alone: it is needed to load the plug-ins, which declare further settings."""
    name = "plugins.disabled"
    text = environment.get(environment_name(name)) or ini.get(name, "")
    return tuple(text.replace(",", " ").split())


def core_prefixes() -> set[str]:
    """Return the first parts of the names of the service's own settings, which plug-ins cannot use."""
    names = {field.alias for field in Settings.model_fields.values() if field.alias}
    return {name.partition(".")[0] for name in names} | {"pyramid"}


def _load_prefixed(
    model: type[AnySettings],
    prefix: str,
    ini: Mapping[str, str],
    environment: Mapping[str, str],
    foreign: Collection[str] = (),
) -> AnySettings:
    """Fill a model from settings that begin with a prefix. `foreign` are variables with this prefix to ignore."""
    names = {prefix + name for name in model.model_fields}
    own = {name: value for name, value in ini.items() if name.startswith(prefix)}
    known = {environment_name(name) for name in names}
    for variable in environment:
        is_named = variable.startswith(environment_name(prefix)) and variable not in foreign
        if environment[variable] and is_named and variable not in known:
            raise _unknown(prefix + variable.removeprefix(environment_name(prefix)).lower(), names)
    warn_about_misspellings(environment, known)
    return _fill(model, own, names, environment, prefix=prefix)


def _belongs_to_others(name: str) -> bool:
    return name.startswith("pyramid.") or (name.count(".") >= 2 and name.startswith("fs."))


def _fill(
    model: type[AnySettings],
    ini: Mapping[str, str],
    names: set[str],
    environment: Mapping[str, str],
    prefix: str,
) -> AnySettings:
    for name in ini:
        if name not in names:
            raise _unknown(name, names)
    values = {name.removeprefix(prefix): value for name, value in ini.items() if value != ""}
    for name in names:
        if environment.get(environment_name(name)):
            values[name.removeprefix(prefix)] = environment[environment_name(name)]
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ConfigurationError(_explain(error, prefix)) from None


def _explain(error: ValidationError, prefix: str) -> str:
    lines = []
    for problem in error.errors(include_url=False, include_input=False):
        # A validator for several settings reports no name.
        name = prefix + str(problem["loc"][0] if problem["loc"] else "*")
        text = "is required but not set" if problem["type"] == "missing" else problem["msg"]
        lines.append(f"Setting {name} ({environment_name(name)}): {text}")
    return "\n".join(lines)


def _unknown(name: str, known: Collection[str]) -> ConfigurationError:
    return ConfigurationError(
        f"Unknown setting {name!r} ({environment_name(name)}). Known settings: {', '.join(sorted(known))}."
    )


def _with_secrets(settings: Settings) -> Settings:
    """Read missing secrets from the secrets file, except in production."""
    given = {"app.secret": settings.app_secret, "enc.token_phrase": settings.enc_token_phrase}
    missing = [name for name in SECRETS if not given[name].get_secret_value()]
    if not missing:
        return settings
    if settings.app_env == "prod" or settings.app_secrets_file is None:
        names = " and ".join(f"{name} ({environment_name(name)})" for name in missing)
        alternative = (
            ""
            if settings.app_env == "prod"
            else " Or name a file for generated secrets: app.secrets_file (APP_SECRETS_FILE)."
        )
        raise ConfigurationError(
            f"With app.env = {settings.app_env} there is no default for {names}. Set a long random text, "
            "e.g. from `openssl rand -hex 32`, and keep it: with another value, stored tokens and links are invalid."
            + alternative
        )
    found = read_or_make_secrets(settings.app_secrets_file, SECRETS)
    return settings.model_copy(update={name.replace(".", "_"): SecretStr(found[name]) for name in missing})
