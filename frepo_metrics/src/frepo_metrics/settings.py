"""The settings `metrics.*`."""

from pydantic import Field, SecretStr

from frepo_core.plugins import PluginSettings


class MetricsSettings(PluginSettings):
    """`metrics.*`, `METRICS_*`."""

    code: SecretStr = Field(
        SecretStr(""), description="The code that /metrics requires in its query; empty: there is no /metrics."
    )
    collections: int = Field(
        1000,
        ge=0,
        le=100_000,
        description="For at most how many collections there are metrics of their own, the newest collections first; 0: none.",
    )
