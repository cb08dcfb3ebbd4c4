"""The metrics of archives, as the job has found them last."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from prometheus_client.core import GaugeMetricFamily

from frepo_core.plugins import Service

_MOST = 1000


class Collector:
    """Reads what the job keeps. The names of collections are labels, as in the other metrics."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Any]:
        """Return the metrics."""
        labels = ["collection", "name"]
        missing = GaugeMetricFamily("frepo_wal_missing_segments", "Segments that are missing", labels=labels)
        age = GaugeMetricFamily("frepo_wal_newest_segment_age_seconds", "Age of the newest segment", labels=labels)
        until = GaugeMetricFamily(
            "frepo_wal_restorable_until_timestamp_seconds", "Newest moment to restore", labels=labels
        )
        for one in self._service.store.items("status/", limit=_MOST):
            state, key = one.value, [one.key.partition("/")[2], one.value["name"]]
            missing.add_metric(key, sum(gap["count"] for gap in state["missing"]))
            if state["newest_at"]:
                age.add_metric(key, max(0.0, (datetime.now(UTC) - _time(state["newest_at"])).total_seconds()))
            if state["restorable"]:
                until.add_metric(key, _time(state["restorable"][0]["until"]).timestamp())
        yield from (missing, age, until)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)
