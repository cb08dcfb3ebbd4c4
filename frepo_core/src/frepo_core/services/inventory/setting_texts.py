"""Texts of the values of settings, as they are written in an ini file."""

from datetime import timedelta
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from frepo_core.domain.durations import format_duration

SECRET = "***"
REQUIRED = "required"


def value_text(value: Any) -> str:
    """Return the text of a value. An empty text is no value; that of a secret with a value is `***`."""
    if isinstance(value, SecretStr):
        return SECRET if value.get_secret_value() else ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, timedelta):
        return format_duration(value) or "0"
    if isinstance(value, tuple | list):
        return ", ".join(map(value_text, value))
    return "" if value is None else str(value)


def default_text(field: FieldInfo, *, is_secret: bool = False) -> str:
    """Return the text of the default of a setting, `required` if it has none."""
    if field.default_factory is None and field.default is PydanticUndefined:
        return REQUIRED
    text = value_text(field.get_default(call_default_factory=True))
    return SECRET if is_secret and text else text
