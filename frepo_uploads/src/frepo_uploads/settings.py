"""The settings `uploads.*`."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, TypeAdapter

from frepo_core.plugins import HARMLESS, Duration, PluginSettings, Size

_PERCENT = re.compile(r"([0-9]{1,3})\s*%")
_SIZE: TypeAdapter[int] = TypeAdapter(Size)
_HOST = re.compile("[a-z0-9]{0,24}")


def _share(text: str) -> str:
    share_of(text, 0)
    return text


def share_of(text: str, whole: int) -> int:
    """Return how many bytes a percentage of `whole` is, or the size that the text names. Raises `ValueError`."""
    if match := _PERCENT.fullmatch(text):
        if int(match[1]) > 100:
            raise ValueError("write a percentage up to 100%")
        return whole * int(match[1]) // 100
    try:
        return _SIZE.validate_python(text)
    except ValueError:
        raise ValueError("write a percentage such as 25%, or a size such as 500GB") from None


def _tag(text: str) -> str:
    if not _HOST.fullmatch(text):
        raise ValueError("write up to 24 lower-case letters and digits, such as backup1")
    return text


def _positive(value: timedelta) -> timedelta:
    if value < timedelta(minutes=1):
        raise ValueError("write at least one minute, such as 48h")
    return value


class UploadsSettings(PluginSettings):
    """`uploads.*`, `UPLOADS_*`."""

    directory: Path | None = Field(
        None,
        description="The folder for the parts of open uploads. By default `uploads` next to `fs.local.directory`, "
        "otherwise in the folder of the state.",
        json_schema_extra=HARMLESS,
    )
    expire: Annotated[Duration, AfterValidator(_positive)] = Field(
        "48h",  # type: ignore[assignment]  # a text as in an ini file
        description="An upload ends so long after its last part.",
    )
    max_total: Annotated[str, AfterValidator(_share)] = Field(
        "25%",
        description="How much all open uploads may hold: a percentage of what is free above `trash.min_free`, or a "
        "size.",
        json_schema_extra=HARMLESS,
    )
    max_open: int = Field(10, ge=1, le=1000, description="How many uploads of one token may be open.")
    host: Annotated[str, AfterValidator(_tag)] = Field(
        "",
        description="With what the id of an upload begins, for a proxy in front of several hosts: lower-case letters "
        "and digits. By default the name of the host.",
        json_schema_extra=HARMLESS,
    )
