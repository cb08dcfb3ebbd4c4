"""The settings `metrics.*`."""

from pydantic import Field, SecretStr

from frepo_core.plugins import PluginSettings


class MetricsSettings(PluginSettings):
    """`metrics.*`, `METRICS_*`."""

    enabled: bool = Field(
        False, description="Serve /metrics to tokens with the role metrics.view. It is always served if a code is set."
    )
    code: SecretStr = Field(
        SecretStr(""),
        description="Anyone with this code may read /metrics?code=... without a token. Empty: no code is valid.",
    )
    collections: int = Field(
        1000,
        ge=0,
        le=100_000,
        description="For at most how many collections there are metrics of their own, the newest collections first; "
        "0: none.",
    )

    @property
    def is_served(self) -> bool:
        """Whether there is `/metrics`."""
        return self.enabled or bool(self.code.get_secret_value())
