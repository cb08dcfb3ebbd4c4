"""Counts requests. Updates are cheap, because every request makes one; Prometheus' types are made at a scrape."""

import re
import threading
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from weakref import WeakKeyDictionary

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

from frepo_core.plugins import PluginContext, Service

# Upper bounds in seconds.
BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0)
_LABELS = ("method", "route", "status")
# What an upload to each route adds.
UPLOADS = {
    "/repository/collection/{collection}/backup": "version",
    "/repository/collection/{collection}/version": "version",
    "/api/v1/collections/{collection}/versions": "version",
    "/api/v1/files": "file",
    "/repository/{type}/upload": "file",
    "/repository/file/{name}": "file",
    "/repository/{type}/add-by-url": "file",
}
_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


# What is counted for a method, route and status is a list, the fastest type: seconds, bytes received, bytes sent, and a
# count for each bound and for what is above all of them.
_SECONDS, _RECEIVED, _SENT, _BUCKETS = range(4)


class RequestMetrics:
    """The collector of requests; `observe` is called after each."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[tuple[str, str, int], list[float]] = {}
        self._refused: dict[tuple[str, str, str], int] = {}

    def observe(
        self, method: str, path: str, status: int, seconds: float, received: int, sent: int, error: str
    ) -> None:
        """Count a request. Unknown paths have the route `none`, so that clients cannot make labels."""
        key = (method, path, status) if path else ("any", "none", status)
        with self._lock:
            try:
                counts = self._counts[key]
            except KeyError:
                counts = self._counts[key] = [0] * (_BUCKETS + len(BUCKETS) + 1)
            counts[_SECONDS] += seconds
            counts[_RECEIVED] += received
            counts[_SENT] += sent
            counts[_BUCKETS + bisect_left(BUCKETS, seconds)] += 1
            if error:
                refused = (key[0], key[1], error)
                self._refused[refused] = self._refused.get(refused, 0) + 1

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        with self._lock:
            counts = {key: list(one) for key, one in self._counts.items()}
            refused = dict(self._refused)
        seconds = HistogramMetricFamily(
            "frepo_http_request_duration_seconds",
            "Time of requests in the application, without the transfer of bodies.",
            labels=_LABELS,
        )
        received = CounterMetricFamily("frepo_http_received_bytes", "Bytes in the bodies of requests.", labels=_LABELS)
        sent = CounterMetricFamily("frepo_http_sent_bytes", "Bytes in the bodies of answers.", labels=_LABELS)
        for (method, route, status), (total, bytes_in, bytes_out, *buckets) in counts.items():
            labels = (method, route, str(status))
            seconds.add_metric(labels, _cumulated(buckets), total)
            received.add_metric(labels, bytes_in)
            sent.add_metric(labels, bytes_out)
        refusals = CounterMetricFamily(
            "frepo_http_refusals", "Requests that were answered with an error.", labels=("method", "route", "reason")
        )
        for (method, route, error), number in refused.items():
            refusals.add_metric((method, route, reason_of(error)), number)
        uploads = CounterMetricFamily("frepo_uploads", "Uploads that were accepted.", labels=("kind",))
        for kind, uploaded in _count_uploads(counts).items():
            uploads.add_metric((kind,), uploaded)
        yield from (seconds, received, sent, refusals, uploads)


_OF_SERVICE: WeakKeyDictionary[Service, RequestMetrics] = WeakKeyDictionary()


def requests_of(context: PluginContext) -> RequestMetrics:
    """Return the metrics of a service's requests; a process has one service, except in tests."""
    return _OF_SERVICE.setdefault(context.service, RequestMetrics())


def reason_of(error: str) -> str:
    """Return the reason for the name of an error's class: `collection_full` for `CollectionFullError`."""
    return _WORD.sub("_", error.removesuffix("Error").removeprefix("HTTP")).lower()


def _count_uploads(counts: Mapping[tuple[str, str, int], Sequence[float]]) -> Mapping[str, float]:
    """Return the number of accepted uploads by kind, from the counts of requests."""
    found = dict.fromkeys(UPLOADS.values(), 0.0)
    for (method, route, status), (_total, _in, _out, *buckets) in counts.items():
        if method in {"POST", "PUT"} and 200 <= status < 300 and route in UPLOADS:
            found[UPLOADS[route]] += sum(buckets)
    return found


def _cumulated(buckets: Sequence[float]) -> list[tuple[str, float]]:
    """Return the bounds with the number of requests below each, in the form of Prometheus."""
    total, found = 0.0, []
    for bound, number in zip((*map(str, BUCKETS), "+Inf"), buckets, strict=True):
        total += number
        found.append((bound, total))
    return found
