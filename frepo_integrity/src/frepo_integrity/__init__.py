"""Checks whether uploaded backups are whole: compressed files, archives and dumps."""

from frepo_core.plugins import Job, PluginContext, SettingsSpec, UploadCheck, UploadPolicy, hookimpl

from . import deep_check, last_good
from .settings import IntegritySettings
from .upload_check import NAME, InlineCheck, deadline, on_finding

__all__ = ["IntegritySettings", "frepo_jobs", "frepo_settings", "frepo_upload_checks", "frepo_upload_policies"]

_inline = InlineCheck()


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare the settings `integrity.*`."""
    return SettingsSpec(prefix="integrity", model=IntegritySettings)


@hookimpl
def frepo_upload_checks() -> list[UploadCheck]:
    """Check each version when it is uploaded."""
    return [UploadCheck(name=NAME, run=_inline.run, on_finding=on_finding, deadline=deadline, job=deep_check.JOB)]


@hookimpl
def frepo_jobs() -> list[Job]:
    """Finish the checks that an upload did not wait for."""
    return [
        Job(
            name=deep_check.JOB,
            schedule=deep_check.SCHEDULE,
            run=deep_check.run,
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
