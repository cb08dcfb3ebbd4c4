"""The base class of settings, of the core and of plug-ins."""

from pydantic import BaseModel, ConfigDict


class PluginSettings(BaseModel):
    """Settings declared as data: name, type, default and help (`Field(description=...)`).

    Unknown names are refused, and values are frozen. A text is never converted to a number: the password `12345` stays a
    text. Use `pydantic.SecretStr` for values that must not appear in logs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, hide_input_in_errors=True)
