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

    directory: Path = Field(description="The root of the storage.")
    lazy_root: bool = Field(True, description="Make the root when the first blob comes; `false`: it must be there.")
    links: Literal["skip", "refuse"] = Field(
        "refuse",
        description="What to do with symbolic links found below the root: `refuse` is an error, `skip` not.",
    )
    file_permissions: Mode = Field(0o640, description="Mode of a blob's file, in octal.")
    directory_permissions: Mode = Field(0o750, description="Mode of the folders that are made, in octal.")
