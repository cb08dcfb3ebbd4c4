"""The settings of the storage `local`."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from frepo_core.plugins import HARMLESS, FileMode, StorageSettings


class LocalSettings(StorageSettings):
    """`fs.local.*`, `FS_LOCAL_*`."""

    directory: Path = Field(description="The root folder of the storage.", json_schema_extra=HARMLESS)
    lazy_root: bool = Field(
        True, description="Create the root folder when the first blob is stored; `false`: it must exist."
    )
    links: Literal["skip", "refuse"] = Field(
        "refuse",
        description="How to treat symbolic links below the root: `refuse` raises an error, `skip` ignores them.",
    )
    file_permissions: FileMode = Field(FileMode(0o640), description="Mode of blob files, in octal.")
    directory_permissions: FileMode = Field(FileMode(0o750), description="Mode of new folders, in octal.")
