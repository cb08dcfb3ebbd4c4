"""The endpoints of reports: as JSON, as CSV, and as a page that prints."""

from functools import partial
from typing import Any

from pydantic import Field
from pyramid.response import Response

from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.content.content_response import send_export
from frepo_core.web.conventions.types import Moment
from frepo_core.web.schemas.models import Flag, Query

from .feature import EvidenceServices
from .formats import FORMATS
from .models import NightReport, RestoreReport

REPORTS = f"{V1}/reports"


class ReportQuery(Query):
    """Which time a report is about: at most 400 days."""

    since: Moment | None = Field(
        None, description="From this time on. By default: the last 30 days, for nights the last month."
    )
    until: Moment | None = Field(
        None, description="Up to this time. By default: now, for nights the end of the last month."
    )


class ProofQuery(ReportQuery):
    """Which time a report is about, and whether it proves what it says."""

    proof: Flag = Field(False, description="Also the chain over the events, for at most 100,000 of them.")


def show_restores(request: FrepoRequest) -> Answer:
    """Show what was restored, what has arrived, who has deleted what, and what the locks are worth."""
    query = request.query_as(ProofQuery)
    reports = request.services.feature(EvidenceServices).reports
    return Answer(body=reports.restores(query.since, query.until, proof=query.proof))


def show_nights(request: FrepoRequest) -> Answer:
    """Show on how many of the expected nights the backups of each host have arrived."""
    return Answer(body=_nights(request))


def _restores(request: FrepoRequest) -> RestoreReport:
    query = request.query_as(ReportQuery)
    return request.services.feature(EvidenceServices).reports.restores(query.since, query.until)


def _nights(request: FrepoRequest) -> NightReport:
    query = request.query_as(ReportQuery)
    return request.services.feature(EvidenceServices).reports.nights(query.since, query.until)


def _export(request: FrepoRequest, *, make: Any, form: str, name: str) -> Response:
    """Answer with a report as a file."""
    write, media = FORMATS[form]
    return send_export(request, write(make(request)), media, f"{name}.{form}")


_get = partial(Endpoint, method="GET", permission="report.view")

ENDPOINTS = [
    _get(
        name="show_restore_report",
        path=f"{REPORTS}/restores",
        view=show_restores,
        summary="What was restored and what has arrived",
        query=ProofQuery,
        answers={200: RestoreReport},
    ),
    _get(
        name="show_night_report",
        path=f"{REPORTS}/nights",
        view=show_nights,
        summary="The nights of each host",
        query=ReportQuery,
        answers={200: NightReport},
    ),
    *(
        _get(
            name=f"export_{name}_{form}",
            path=f"{REPORTS}/{name}.{form}",
            view=partial(_export, make=make, form=form, name=name),
            summary=f"{title} as {form.upper()}",
            query=ReportQuery,
            answers={200: None},
            media=FORMATS[form][1].partition(";")[0],
        )
        for name, title, make in (
            ("restores", "What was restored and what has arrived", _restores),
            ("nights", "The nights of each host", _nights),
        )
        for form in ("html", "csv")
    ),
]
