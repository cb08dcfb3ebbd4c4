"""The fixture for authors of plug-ins, found by pytest through the entry point group `pytest11`."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from frepo_core.testing.running_service import RunningService

# The rest is imported by the fixture, because pytest loads this module in every environment that has frepo.


@pytest.fixture
def frepo_service_settings() -> dict[str, str]:
    """Return settings for `frepo_service`, as in an ini file. Override it: `{"acme.colour": "red"}`."""
    return {}


@pytest.fixture
def frepo_service(
    tmp_path: Path, frepo_service_settings: dict[str, str], caplog: pytest.LogCaptureFixture
) -> Iterator["RunningService"]:
    """Run a whole service with the installed plug-ins: HTTP on loopback, SQLite, and a storage in memory."""
    from frepo_core.testing.running_service import RunningService

    caplog.set_level("INFO")
    service = RunningService(tmp_path / "frepo", frepo_service_settings, caplog)
    try:
        yield service
    finally:
        service.close()
