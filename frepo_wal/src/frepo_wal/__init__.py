"""Continuous archiving of PostgreSQL for frepo: segments of the WAL, base backups, and recovery to a point in time."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import (
    CheckResult,
    ConsoleSlot,
    Job,
    JobContext,
    Pages,
    PluginContext,
    SettingsSpec,
    StrategySpec,
    UploadCheck,
    UploadedContent,
    hookimpl,
)

from .settings import BASE_BEGINS, BASE_CHECK, JOB, WalSettings
from .strategy import NAME, SPEC

if TYPE_CHECKING:
    from frepo_core.web import Endpoint

__all__ = [
    "WalSettings",
    "frepo_console_slots",
    "frepo_endpoints",
    "frepo_jobs",
    "frepo_metrics",
    "frepo_pages",
    "frepo_settings",
    "frepo_strategies",
    "frepo_upload_checks",
]


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `wal.*`."""
    return SettingsSpec(prefix="wal", model=WalSettings)


@hookimpl
def frepo_strategies() -> Sequence[StrategySpec]:
    """Provide the strategy `wal`."""
    return [SPEC]


@hookimpl
def frepo_endpoints(context: PluginContext) -> "Sequence[Endpoint]":
    """Serve `wal` below a collection."""
    from .web.endpoints import make_endpoints  # `frepo` loads this module, too, and needs no web

    return make_endpoints(context)


@hookimpl
def frepo_upload_checks() -> Sequence[UploadCheck]:
    """Compare each base backup with its manifest, before anything is deleted for it."""
    return [UploadCheck(name=BASE_CHECK, run=_check_base, begins=BASE_BEGINS, job=JOB)]


@hookimpl
def frepo_jobs() -> Sequence[Job]:
    """Watch the archives."""
    return [
        Job(
            name=JOB,
            schedule="every 5m",
            run=_watch,
            lane="medium",
            summary="Report what archives of WAL lack, and delete what no base backup needs",
        ),
    ]


@hookimpl
def frepo_pages() -> Sequence[Pages]:
    """Serve the module of the tab."""
    return [Pages(path="wal", folder=Path(__file__).parent / "pages", title="Archives of WAL")]


@hookimpl
def frepo_console_slots() -> Sequence[ConsoleSlot]:
    """Show in the web console what an archive has and lacks."""
    return [
        ConsoleSlot(
            place="collection.card",
            name="wal",
            title="Point-in-time recovery",
            module="wal/status.js",
            applies_to=(f"strategy:{NAME}",),
        )
    ]


@hookimpl
def frepo_metrics(context: PluginContext) -> Sequence[Any]:
    """Return the metrics of the archives."""
    from .metrics import Collector  # only frepo-metrics needs prometheus_client

    return [Collector(context.service)]


# Most commands need none of what these import.


def _check_base(content: UploadedContent, context: PluginContext) -> CheckResult:
    from .base_check import check

    return check(content, context)


def _watch(context: JobContext) -> Mapping[str, Any]:
    from .job import run

    return run(context)
