"""The settings of the storage `sealed`."""

from pathlib import Path

from pydantic import Field

from frepo_core.plugins import HARMLESS, StorageSettings


class SealedSettings(StorageSettings):
    """`fs.sealed.*`, `FS_SEALED_*`, or those of a named storage."""

    over: str = Field(min_length=1, description="The storage that keeps what is encrypted.", json_schema_extra=HARMLESS)
    key_file: Path = Field(
        description="File with the keys, one in each line: 64 hex digits. The first one encrypts, all of them decrypt. "
        "`frepo sealed:new-key` makes it.",
        json_schema_extra=HARMLESS,
    )
