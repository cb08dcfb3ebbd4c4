"""The settings `wal.*`."""

from pydantic import Field

from frepo_core.plugins import HARMLESS, PluginSettings


class WalSettings(PluginSettings):
    """`wal.*`, `WAL_*`."""

    max_waiting: int = Field(
        64,
        ge=1,
        description="How many segments may wait on the primary before the collection has a problem.",
        json_schema_extra=HARMLESS,
    )
