"""Metrics of what the database and the storage contain. All processes of a service report the same values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import version

from prometheus_client.core import GaugeMetricFamily, InfoMetricFamily, Metric

from frepo_core.plugins import CompactStatus, CopyStatus, JobStatus, Service


def _gauge(name: str, text: str, value: float | None = None) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, value=value)


def _labelled(name: str, text: str, label: str, values: Mapping[str, float | None]) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(name, text, labels=[label])
    for key, value in values.items():
        if value is not None:
            gauge.add_metric([key], value)
    return gauge


COPY_METRICS: tuple[tuple[str, str, Callable[[CopyStatus], float | None]], ...] = (
    ("behind", "Contents without a sound second copy in the storage.", lambda one: one.behind),
    ("behind_bytes", "Bytes of these contents.", lambda one: one.size),
    (
        "oldest_wanted_timestamp_seconds",
        "Since when the content that has waited longest for its second copy waits (Unix).",
        lambda one: _unix(one.oldest_at),
    ),
    ("late", "1 if a content has waited longer than mirror.max_lag.", lambda one: float(one.is_late)),
    (
        "known",
        "0 if contents were not compared with their copies since a recovery: more may be behind.",
        lambda one: float(one.is_known),
    ),
    ("single_versions", "Versions that have one copy only.", lambda one: one.versions_with_one_copy),
    (
        "fallbacks",
        "Reads of the service that were answered from another copy, because one failed.",
        lambda one: one.fallbacks,
    ),
    (
        "checked_timestamp_seconds",
        "When all second copies in the storage were checked the last time (Unix).",
        lambda one: _unix(one.checked_at),
    ),
    (
        "first_checked_timestamp_seconds",
        "When all contents in the first storages were checked the last time (Unix).",
        lambda one: _unix(one.first_checked_at),
    ),
)


COMPACT_METRICS = {
    "encoded": "Contents that are stored compressed or as the difference to others.",
    "saved_bytes": "By how many bytes these contents are smaller.",
    "depth": "How many differences are read for one content at most.",
    "waiting": "Contents that a later run of the job compact encodes.",
    "debt_bytes": "Bytes of contents that are only kept as the base of others.",
}


class ServiceMetrics:
    """The collector of figures about the whole service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        found = self._service.statistics()
        yield InfoMetricFamily("frepo_build", "The version of frepo.", {"version": version("frepo-core")})
        yield _gauge("frepo_read_only", "1 if the service is in read-only mode.", float(self._service.is_read_only))
        yield _gauge("frepo_collections", "Collections.", found.collections)
        text = "Collections in each state that applies to them, such as ok or overdue; one may be in several."
        yield _labelled("frepo_collections_in_state", text, "state", found.collections_by_state)
        yield _gauge("frepo_versions", "Versions in all collections.", found.versions)
        text = "Versions by what is known about them: good, pending, suspicious or broken."
        yield _labelled("frepo_versions_with_verdict", text, "verdict", found.versions_by_verdict)
        yield _gauge("frepo_versions_bytes", "Bytes of all versions; equal content counts each time.", found.size)
        yield _gauge("frepo_trash_versions", "Versions in the trash.", found.trash_versions)
        yield _gauge("frepo_trash_bytes", "Bytes of the versions in the trash.", found.trash_size)
        yield _gauge("frepo_damaged_blobs", "Stored contents that are known to be damaged.", found.damaged_blobs)
        yield from _copies(found.copies)
        yield from _compact(found.compact)
        text = "Bytes that can still be stored."
        yield _labelled("frepo_storage_free_bytes", text, "storage", {found.storage: found.free_space})
        yield _gauge("frepo_temporary_free_bytes", "Free bytes of the disk for uploads.", found.temporary_space)
        text = "Events that a subscriber has not handled yet."
        yield _labelled("frepo_events_behind", text, "subscriber", found.events_behind)
        text = "Events that a subscriber could not handle in all tries."
        yield _labelled("frepo_events_parked", text, "subscriber", found.parked_events)
        yield from _jobs({job.name: job for job in found.jobs})


class CollectionMetrics:
    """The collector of figures about each collection, at most `limit`."""

    def __init__(self, service: Service, limit: int) -> None:
        self._service = service
        self._limit = limit

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        labels = ["collection", "name"]
        versions = GaugeMetricFamily("frepo_collection_versions", "Versions in the collection.", labels=labels)
        size = GaugeMetricFamily("frepo_collection_bytes", "Bytes of the collection's versions.", labels=labels)
        newest = GaugeMetricFamily(
            "frepo_collection_newest_timestamp_seconds", "When the newest version was added (Unix).", labels=labels
        )
        good = GaugeMetricFamily(
            "frepo_collection_newest_good_timestamp_seconds",
            "When the newest good version was added (Unix).",
            labels=labels,
        )
        most = GaugeMetricFamily("frepo_collection_limit_bytes", "The limit of the size; 0: none.", labels=labels)
        state = GaugeMetricFamily(
            "frepo_collection_state", "1 for the state of the collection.", labels=[*labels, "state"]
        )
        due = GaugeMetricFamily(
            "frepo_collection_due_timestamp_seconds", "When the next version is expected (Unix).", labels=labels
        )
        for one in self._service.collection_usage(limit=self._limit):
            key = [one.id, one.name]
            versions.add_metric(key, one.versions)
            size.add_metric(key, one.size)
            most.add_metric(key, one.max_size)
            if one.newest_at:
                newest.add_metric(key, one.newest_at.timestamp())
            if one.newest_good_at:
                good.add_metric(key, one.newest_good_at.timestamp())
            state.add_metric([*key, one.state], 1)
            if one.due_at:
                due.add_metric(key, one.due_at.timestamp())
        yield from (versions, size, newest, good, most, state, due)


def _copies(copies: Sequence[CopyStatus]) -> Iterator[Metric]:
    for name, text, value in COPY_METRICS:
        yield _labelled(f"frepo_copies_{name}", text, "storage", {one.storage: value(one) for one in copies})


def _compact(found: CompactStatus | None) -> Iterator[Metric]:
    if found is not None:
        for name, text in COMPACT_METRICS.items():
            yield _gauge(f"frepo_compact_{name}", text, getattr(found, name.removesuffix("_bytes")))


def _jobs(jobs: Mapping[str, JobStatus]) -> Iterator[Metric]:
    yield _labelled(
        "frepo_job_failing",
        "1 if the last run of the job failed.",
        "name",
        {n: float(j.is_failing) for n, j in jobs.items()},
    )
    for key, text in (
        ("last_started", "When the job was started last (Unix)."),
        ("last_success", "When the last run of the job that succeeded was started (Unix)."),
        ("next_at", "When the job is due (Unix)."),
    ):
        name = f"frepo_job_{key.removesuffix('_at')}_timestamp_seconds"
        yield _labelled(name, text, "name", {n: _unix(getattr(job, key)) for n, job in jobs.items()})


def _unix(at: datetime | None) -> float | None:
    return at.timestamp() if at else None
