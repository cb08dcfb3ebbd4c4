"""The settings `parts.*`."""

from pathlib import Path

from pydantic import Field

from frepo_core.plugins import HARMLESS, PluginSettings, Seconds, Size


class PartsSettings(PluginSettings):
    """`parts.*`, `PARTS_*`."""

    directory: Path | None = Field(
        None,
        description="The folder for the lists of parts. By default `parts` next to `fs.local.directory`, otherwise in "
        "the folder of the state.",
        json_schema_extra=HARMLESS,
    )
    inline_limit: Size = Field(
        "64MiB",
        validate_default=True,
        description="A content that was not listed with its check is listed while the request for its list waits, up "
        "to this size; larger ones in the background, and by the job `parts` before somebody asks.",
    )
    memory: Size = Field(
        "512MiB",
        ge=256 << 20,
        validate_default=True,
        description="Memory (address space) of the process that lists a content.",
    )
    seconds: Seconds = Field(
        120.0,
        description="Seconds of the processor's time that the list of a content may take, besides one for each 5 MB.",
    )
