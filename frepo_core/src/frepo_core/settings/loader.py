"""Reads the settings of the service: the environment, then the ini file, then the default. Refuses unknown names."""

from collections.abc import Collection, Mapping

from pydantic import SecretStr

from frepo_core.errors import ConfigurationError

from .misspellings import warn_about_misspellings
from .model import Settings
from .secrets import read_or_make_secrets
from .validation import environment_name, fill_model, unknown_setting

# First parts of names that the service uses, or will use, although no setting of its own begins with them.
_RESERVED = frozenset({"pyramid", "storage", "mirror", "compact"})

SECRETS = ("app.secret", "enc.token_phrase")


def load_settings(ini: Mapping[str, str], environment: Mapping[str, str], *, others: Collection[str] = ()) -> Settings:
    """Read the service's own settings; `fs.<adapter>.*`, `storage.<name>.*` and `pyramid.*` are ignored here.

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
    settings = _with_secrets(fill_model(Settings, own, names, environment, prefix=""))
    if settings.app_env == "prod" and "database_url" not in settings.model_fields_set:
        raise ConfigurationError(
            "With app.env = prod, database.url (DATABASE_URL) must be set, "
            "e.g. postgresql://frepo:PASSWORD@127.0.0.1/frepo. Check its spelling"
        )
    return settings


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
            raise unknown_setting(name, names | {each for each in settings if each.startswith("jobs.")})
    others = {environment_name(name) for name in settings}
    warn_about_misspellings(
        {variable: value for variable, value in environment.items() if variable not in others},
        {environment_name(name) for name in names},
    )
    texts = {job: environment.get(environment_name(f"jobs.{job}")) or ini.get(f"jobs.{job}", "") for job in jobs}
    return {job: text.strip() for job, text in texts.items() if text.strip()}


def load_disabled_plugins(ini: Mapping[str, str], environment: Mapping[str, str]) -> tuple[str, ...]:
    """Read `plugins.disabled` alone: it is needed to load the plug-ins, which declare further settings."""
    name = "plugins.disabled"
    text = environment.get(environment_name(name)) or ini.get(name, "")
    return tuple(text.replace(",", " ").split())


def core_prefixes() -> set[str]:
    """Return the first parts of the names of the service's own settings, which plug-ins cannot use."""
    names = {field.alias for field in Settings.model_fields.values() if field.alias}
    return {name.partition(".")[0] for name in names} | _RESERVED


def _belongs_to_others(name: str) -> bool:
    return name.startswith("pyramid.") or (name.count(".") >= 2 and name.startswith(("fs.", "storage.")))


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
