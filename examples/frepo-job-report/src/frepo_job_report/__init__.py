"""A job for frepo that sends a weekly report in the ways that notifications are sent, such as mail."""

from typing import Any

from pydantic import Field

from frepo_core.plugins import HARMLESS, Job, JobContext, PluginContext, PluginSettings, SettingsSpec, hookimpl

from .report import make_report

MOST = 10_000  # collections


class ReportSettings(PluginSettings):
    """`report.*`, `REPORT_*`."""

    schedule: str = Field(
        "0 7 * * 1",
        description="When the report is sent, such as `0 7 * * 1` (Mondays at 7:00); `off`: never.",
        json_schema_extra=HARMLESS,
    )


def send_report(context: JobContext) -> dict[str, Any]:
    """Send the report. Without a plug-in that delivers messages, nobody gets it: the summary says so."""
    message = make_report(context.service.collection_usage(limit=MOST), now=context.now)
    context.check_lease()
    return {"title": message.title, "is_delivered": context.service.notify(message, sender="report")}


@hookimpl
def frepo_settings() -> SettingsSpec:
    """Declare `report.*`."""
    return SettingsSpec(prefix="report", model=ReportSettings)


@hookimpl
def frepo_jobs(context: PluginContext) -> list[Job]:
    """Provide the job."""
    return [Job(name="report", schedule=context.settings.schedule, run=send_report, summary="Send the weekly report")]
