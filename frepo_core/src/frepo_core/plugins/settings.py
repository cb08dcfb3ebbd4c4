"""The base class of settings, and the declaration of a plug-in's own settings."""

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict


class PluginSettings(BaseModel):
    """Settings declared as data: name, type, default and help (`Field(description=...)`).

    Unknown names are refused, and values are frozen. A default may be a text, as in an ini file: `Size =
    Field("10MB")`. A text is never converted to a number: the password `12345` stays a text. Use `pydantic.SecretStr`
    for values that must not appear in logs. Readers of `/api/v1/settings` see numbers, lengths of time, truth values
    and choices, and of the others only those that are declared harmless: `Field("", json_schema_extra=HARMLESS)`.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, str_strip_whitespace=True, hide_input_in_errors=True, validate_default=True
    )


@dataclass(frozen=True, kw_only=True)
class SettingsSpec:
    """The settings of a plug-in: `<prefix>.<name>` in the ini file, `<PREFIX>_<NAME>` in the environment.

    The environment overrides the ini file, which overrides the default. Unknown names with this prefix are refused. The
    filled model is `context.settings`. Choose the name of the entry point as `prefix`.
    """

    prefix: str
    model: type[BaseModel]

    def __post_init__(self) -> None:
        """Raise `TypeError` for a model that is not one."""
        if not (isinstance(self.model, type) and issubclass(self.model, BaseModel)):
            raise TypeError(f"model is {self.model!r}; write a class that inherits PluginSettings")


def require_callable(name: str, value: object) -> None:
    """Raise `TypeError` if a part of a declaration is not a function."""
    if not callable(value):
        raise TypeError(f"{name} is {value!r}, which cannot be called; write a function")
