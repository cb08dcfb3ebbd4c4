"""A policy for frepo that allows deletions, uploads or downloads during some hours only."""

from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BeforeValidator, Field

from frepo_core.plugins import (
    HARMLESS,
    PluginContext,
    PluginSettings,
    PolicyRefusal,
    PolicyRequest,
    SettingsSpec,
    UploadPolicy,
    hookimpl,
)

from .hours import Hours, parse_hours


def _actions(value: Any) -> Any:
    return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value


def _zone(value: Any) -> Any:
    try:
        return ZoneInfo(value) if isinstance(value, str) else value
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ValueError("this time zone is not known here; write e.g. Europe/Berlin") from error


class HoursSettings(PluginSettings):
    """`hours.*`, `HOURS_*`."""

    model_config = PluginSettings.model_config | {"arbitrary_types_allowed": True}

    actions: Annotated[tuple[Literal["upload", "delete", "download"], ...], BeforeValidator(_actions)] = Field(
        ("delete",), description="What is allowed during the hours only.", json_schema_extra=HARMLESS
    )
    hours: Annotated[Hours, BeforeValidator(parse_hours)] = Field(
        "mon-fri 08:00-18:00",
        validate_default=True,
        description="The hours, on all days or on some.",
        json_schema_extra=HARMLESS,
    )
    time_zone: Annotated[ZoneInfo, BeforeValidator(_zone)] = Field(
        "UTC", validate_default=True, description="The time zone of the hours.", json_schema_extra=HARMLESS
    )


def decide(request: PolicyRequest, context: PluginContext) -> None:
    """Refuse what is asked for outside the hours. Raises `PolicyRefusal`."""
    settings: HoursSettings = context.settings
    if not settings.hours.include(request.at.astimezone(settings.time_zone)):
        raise PolicyRefusal(f"this service is open from {settings.hours} ({settings.time_zone.key})")


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare `hours.*`."""
    return SettingsSpec(prefix="hours", model=HoursSettings)


@hookimpl
def frepo_upload_policies(context: PluginContext) -> list[UploadPolicy]:
    """Provide the policy, for the actions that are set."""
    if not context.settings.actions:
        return []
    return [UploadPolicy(name="hours", decide=decide, actions=context.settings.actions)]
