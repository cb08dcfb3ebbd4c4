"""The base class of every declared set of settings, core's and each plug-in's."""

from pydantic import BaseModel, ConfigDict


class PluginSettings(BaseModel):
    """Settings declared as data: name, type, default and help (`Field(description=...)`).

    Unknown names are refused, values are frozen, texts stay texts: `12345` as a password is not a number.
    Use `pydantic.SecretStr` for what must not show in logs.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True, hide_input_in_errors=True)
