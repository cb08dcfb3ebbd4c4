"""The settings in force: their values as texts, with secrets masked, and where each comes from."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from pydantic import BaseModel, SecretStr

from frepo_core.domain.structs import struct
from frepo_core.settings import environment_name

from .setting_texts import default_text, shown_text, value_text


class Source(StrEnum):
    """Where the value of a setting comes from. The secrets file is that of `app.secrets_file`."""

    ENVIRONMENT = "environment"
    INI = "ini file"
    SECRETS_FILE = "secrets file"
    DEFAULT = "default"


@struct
class SettingInForce:
    """A setting: its names in the ini file and in the environment, its value and default as texts.

    A secret that has a value is shown as `***`, and so is what is neither the default nor declared harmless. `package`
    is the distribution that declares the setting.
    """

    name: str
    variable: str
    value: str
    default: str
    source: Source
    is_secret: bool
    description: str
    package: str


@struct
class FilledModel:
    """A model of settings, the prefix of their names (empty: they have names of their own), and its package."""

    prefix: str
    model: BaseModel
    package: str


class SettingsInForce:
    """Lists settings; `mask` masks secrets within values that are no secrets, such as a password in a URL."""

    def __init__(self, ini: Mapping[str, str], environment: Mapping[str, str], mask: Callable[[str], str]) -> None:
        self._ini = ini
        self._environment = environment
        self._mask = mask

    def of_models(self, models: Iterable[FilledModel]) -> Iterator[SettingInForce]:
        """Yield the settings of models that were filled from the ini file and the environment."""
        for filled in models:
            for field_name, field in type(filled.model).model_fields.items():
                name = f"{filled.prefix}.{field_name}" if filled.prefix else field.alias or field_name
                value = getattr(filled.model, field_name)
                is_secret = isinstance(value, SecretStr)
                default = default_text(field, is_secret=is_secret)
                source = self._source(name)
                if source is Source.DEFAULT and is_secret and value_text(value) != default:
                    source = Source.SECRETS_FILE
                yield SettingInForce(
                    name=name,
                    variable=environment_name(name),
                    value=self._mask(shown_text(field, value)),
                    default=self._mask(default),
                    source=source,
                    is_secret=is_secret,
                    description=field.description or "",
                    package=filled.package,
                )

    def of_job(self, job: str, schedule: str, default: str, package: str) -> SettingInForce:
        """Return the setting with the schedule of a job."""
        name = f"jobs.{job}"
        return SettingInForce(
            name=name,
            variable=environment_name(name),
            value=schedule,
            default=default,
            source=self._source(name),
            is_secret=False,
            description=f"When the job {job} runs.",
            package=package,
        )

    def _source(self, name: str) -> Source:
        if self._environment.get(environment_name(name)):
            return Source.ENVIRONMENT
        return Source.INI if self._ini.get(name) else Source.DEFAULT
