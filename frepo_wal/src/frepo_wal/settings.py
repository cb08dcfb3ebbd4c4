"""The settings `wal.*`, and the names of the job and of the check."""

from pydantic import Field

from frepo_core.plugins import HARMLESS, PluginSettings

JOB = "wal"
BASE_CHECK = "wal_base"
# The first entry in the tar of `pg_basebackup`, as its header has it.
BASE_BEGINS = (b"backup_label\0", b"./backup_label\0")


class WalSettings(PluginSettings):
    """`wal.*`, `WAL_*`."""

    max_waiting: int = Field(
        64,
        ge=1,
        description="How many segments may wait on the primary before the collection has a problem.",
        json_schema_extra=HARMLESS,
    )
