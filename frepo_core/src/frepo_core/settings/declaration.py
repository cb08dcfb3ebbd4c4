"""Declares a setting of the service."""

from typing import Any

from pydantic import Field

from .types import HARMLESS


def setting(name: str, default: Any, description: str, **limits: Any) -> Any:
    """Declare one setting under its name in the ini file, from which the environment name is derived."""
    return Field(default, alias=name, description=description, **limits)


def harmless(name: str, default: Any, description: str, **limits: Any) -> Any:
    """Declare a setting whose text every reader of the settings may see."""
    return setting(name, default, description, json_schema_extra=HARMLESS, **limits)
