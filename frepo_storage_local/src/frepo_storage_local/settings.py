"""The settings of the storage `local`."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from frepo_core.plugins import StorageSettings


def _octal(value: Any) -> Any:
    return int(value, 8) if isinstance(value, str) else value


Mode = Annotated[int, BeforeValidator(_octal), Field(ge=0, le=0o7777)]


class LocalSettings(StorageSettings):
    """`fs.local.*`, `FS_LOCAL_*`."""

    directory: Path = Field(description="The root folder of the storage.")
    lazy_root: bool = Field(
        True, description="Create the root folder when the first blob is stored; `false`: it must exist."
    )
    links: Literal["skip", "refuse"] = Field(
        "refuse",
        description="How to treat symbolic links below the root: `refuse` raises an error, `skip` ignores them.",
    )
    file_permissions: Mode = Field(0o640, description="Mode of blob files, in octal.")
    directory_permissions: Mode = Field(0o750, description="Mode of new folders, in octal.")
