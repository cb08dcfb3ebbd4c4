"""`GET /metrics`, in the text format of Prometheus."""

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from prometheus_client import generate_latest
from prometheus_client.core import Metric
from pydantic import Field
from pyramid.response import Response

from frepo_core.plugins import AccessDeniedError, Collector, PluginContext
from frepo_core.web import Endpoint, FrepoRequest, Query

from .settings import MetricsSettings

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsQuery(Query):
    """The code of the setting METRICS_CODE."""

    code: str = Field("", max_length=512)


def show_metrics(request: FrepoRequest, context: PluginContext) -> Response:
    """Answer the metrics of all plug-ins."""
    if not (
        request.has_permission("metrics.view") or knows_code(context.settings, request.query_as(MetricsQuery).code)
    ):
        raise AccessDeniedError(
            "No access: /metrics needs a token with the role metrics.view, or the code metrics.code"
        )
    body = b"".join(format_metrics(context.service.collectors(), context))
    return Response(body, headers={"Content-Type": CONTENT_TYPE, "Cache-Control": "no-store"})


def knows_code(settings: MetricsSettings, code: str) -> bool:
    """Return whether this is the code of the settings. Without such a setting no code is valid."""
    expected = settings.code.get_secret_value()
    return bool(expected) and hmac.compare_digest(expected.encode(), code.encode())


def format_metrics(collectors: Iterable[Collector], context: PluginContext) -> Iterator[bytes]:
    """Yield the text of each collector. One that fails, or repeats the name of a metric, is left out and logged."""
    names: set[str] = set()
    for one in collectors:
        try:
            found = _collect(one)
            if twice := names & {metric.name for metric in found}:
                raise ValueError(f"another collector has the metric {min(twice)!r}")
            text = generate_latest(_Collected(found))
        except BaseException as error:  # a collector of a plug-in may raise anything, SystemExit included
            if isinstance(error, KeyboardInterrupt):
                raise
            context.log.exception("a collector of %s is left out", one.origin)
            continue
        names |= {metric.name for metric in found}
        yield text


def _collect(one: Collector) -> list[Metric]:
    """Return the metrics of a collector. Raises `TypeError` that says what was expected."""
    found = one.collect()
    if odd := [metric for metric in found if not isinstance(metric, Metric)]:
        raise TypeError(f"collect() yielded {odd[0]!r}, which is not a Metric of prometheus_client")
    return found


@dataclass(frozen=True)
class _Collected:
    metrics: list[Metric]

    def collect(self) -> list[Metric]:
        return self.metrics


def make_endpoint(settings: MetricsSettings) -> Endpoint:
    """Return the endpoint. With a code it is open to requests without a token, and the view decides."""
    return Endpoint(
        name="show_metrics",
        method="GET",
        path="/metrics",
        view=show_metrics,
        summary="Metrics for Prometheus",
        permission=None if settings.code.get_secret_value() else "metrics.view",
        query=MetricsQuery,
        answers={200: None},
        media="text/plain",
    )
