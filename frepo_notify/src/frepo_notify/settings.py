"""The settings `notify.*`."""

import functools
import socket

from pydantic import Field, SecretStr, field_validator

from frepo_core.plugins import HARMLESS, Networks, PluginSettings

from .targets import Target, parse_targets

ALLOWED = "notify.allowed_networks"


class NotifySettings(PluginSettings):
    """`notify.*`, `NOTIFY_*`."""

    targets: SecretStr = Field(
        SecretStr(""),
        description="Where to send notifications, one target a line: its name, its URL, and options: `kinds=`, "
        "`collections=`, `secret=`, `summary=`.",
    )
    group_wait: float = Field(
        30,
        ge=0,
        le=3600,
        description="Seconds that an event waits, so that all events of this time are sent in one message. Webhooks "
        "do not wait.",
    )
    summary: str = Field(
        "off",
        description="When a summary is sent, such as `0 7 * * *` (each day at 7:00) or `0 7 * * 1`; `off`: never.",
        json_schema_extra=HARMLESS,
    )
    heartbeat: SecretStr = Field(
        SecretStr(""),
        description="A URL that is requested each minute while the service is healthy, of a service that alerts when "
        "requests stay away.",
    )
    allowed_networks: Networks = Field(
        (),
        description="Networks that webhooks and the heartbeat may connect to although they are not public.",
        json_schema_extra=HARMLESS,
    )
    timeout: float = Field(
        15, gt=0, le=300, description="Seconds after which a request to a webhook or the heartbeat fails."
    )
    service_name: str = Field(
        "",
        description="The name of this service in messages; empty: the name of the machine.",
        json_schema_extra=HARMLESS,
    )

    @field_validator("targets")
    @classmethod
    def _check_targets(cls, value: SecretStr) -> SecretStr:
        parse_targets(value.get_secret_value())
        return value

    @field_validator("heartbeat")
    @classmethod
    def _check_heartbeat(cls, value: SecretStr) -> SecretStr:
        if value.get_secret_value() and not value.get_secret_value().startswith(("http://", "https://")):
            raise ValueError("the URL must begin with https:// or http://")
        return value

    @functools.cached_property
    def all_targets(self) -> tuple[Target, ...]:
        """The targets in their order."""
        return parse_targets(self.targets.get_secret_value())

    @property
    def sender_name(self) -> str:
        """The name of this service in messages."""
        return self.service_name or socket.gethostname()
