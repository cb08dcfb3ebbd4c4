"""An upload check for frepo that asks ClamAV, and an endpoint that asks it about a content without storing it."""

from contextlib import closing
from typing import Literal

from pydantic import Field

from frepo_core.plugins import (
    HARMLESS,
    CheckResult,
    Finding,
    PluginContext,
    PluginSettings,
    Seconds,
    SettingsSpec,
    Size,
    UploadCheck,
    UploadedContent,
    hookimpl,
    readable_size,
)
from frepo_core.web import Endpoint

from .clamd import CHUNK, Scan
from .endpoint import ENDPOINTS


class ClamavSettings(PluginSettings):
    """`clamav.*`, `CLAMAV_*`."""

    address: str = Field(
        "127.0.0.1:3310", pattern=r".+:\d+", description="Host and port of clamd.", json_schema_extra=HARMLESS
    )
    timeout: Seconds = Field(60.0, description="Timeout in seconds for each step of a scan.")
    max_size: Size = Field(25_000_000, description="Larger contents are not checked.")
    on_finding: Literal["off", "mark", "refuse"] = Field("mark", description="What follows if malware is found.")


def check(content: UploadedContent, context: PluginContext) -> CheckResult:
    """Send the content to clamd. An error of clamd is logged by frepo, and the content is not checked."""
    settings = context.settings
    if content.size > settings.max_size:
        return CheckResult(outcome="not checked", message=f"larger than {readable_size(settings.max_size)}")
    with content.open() as file, closing(Scan(settings.address, settings.timeout)) as scan:
        while chunk := file.read(CHUNK):
            scan.send(chunk)
        found = scan.finish()
    if found:
        raise Finding(f"ClamAV found {found}", details={"signature": found})
    return CheckResult(outcome="good")


def on_finding(settings: ClamavSettings) -> Literal["off", "mark", "refuse"]:
    """Return what the operator chose."""
    return settings.on_finding


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare `clamav.*`."""
    return SettingsSpec(prefix="clamav", model=ClamavSettings)


@hookimpl
def frepo_upload_checks() -> list[UploadCheck]:
    """Provide the check, for versions and files."""
    return [UploadCheck(name="clamav", run=check, on_finding=on_finding, applies_to=("versions", "files"))]


@hookimpl
def frepo_endpoints() -> list[Endpoint]:
    """Provide `POST /clamav/scan`."""
    return ENDPOINTS
