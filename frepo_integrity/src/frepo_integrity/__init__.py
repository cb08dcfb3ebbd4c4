"""Checks whether uploaded backups are whole: compressed files, archives and dumps."""

from collections.abc import Mapping
from typing import Any

from frepo_core.plugins import (
    CheckResult,
    Job,
    JobContext,
    Lifecycle,
    PluginContext,
    SettingsSpec,
    UploadCheck,
    UploadedContent,
    UploadPolicy,
    hookimpl,
)

from . import last_good
from .settings import JOB, NAME, IntegritySettings, deadline, on_finding

__all__ = [
    "IntegritySettings",
    "frepo_jobs",
    "frepo_lifecycle",
    "frepo_settings",
    "frepo_upload_checks",
    "frepo_upload_policies",
]

# Commands import this module, too, and need no format: only what checks imports them.


def _check(content: UploadedContent, context: PluginContext) -> CheckResult:
    from .upload_check import INLINE

    return INLINE.run(content, context)


def _check_deeply(context: JobContext) -> Mapping[str, Any]:
    from .deep_check import run

    return run(context)


def _load(context: PluginContext) -> None:
    """Import the libraries when a process begins to serve: a broken one stops the start, not each upload."""
    from .formats import codecs  # noqa: F401


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `integrity.*`."""
    return SettingsSpec(prefix="integrity", model=IntegritySettings)


@hookimpl
def frepo_upload_checks() -> list[UploadCheck]:
    """Check each version when it is uploaded."""
    return [UploadCheck(name=NAME, run=_check, on_finding=on_finding, deadline=deadline, job=JOB)]


@hookimpl
def frepo_jobs() -> list[Job]:
    """Finish the checks that an upload did not wait for."""
    return [
        Job(
            name=JOB,
            schedule="every 15m",
            run=_check_deeply,
            lane="medium",
            summary="Check large backups, and those that only a program understands",
        )
    ]


@hookimpl
def frepo_upload_policies(context: PluginContext) -> list[UploadPolicy]:
    """Keep the only good version of each collection, if the operator wishes so."""
    if not context.settings.keep_last_good:
        return []
    return [UploadPolicy(name=last_good.NAME, decide=last_good.decide, actions=("delete",), on_failure="refuse")]


@hookimpl
def frepo_lifecycle() -> Lifecycle:
    """Load the libraries before the first upload."""
    return Lifecycle(start=_load)
