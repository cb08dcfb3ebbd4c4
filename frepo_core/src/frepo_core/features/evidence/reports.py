"""Makes the reports: what was restored and what has arrived, for people who have to prove it."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Event
from frepo_core.errors import FieldsError
from frepo_core.services.backups.versions.version_checks import DetailedCheck
from frepo_core.services.base.installation import ensure_id
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.reports.common_causes import host_of_labels, read_hosts_of_runs
from frepo_core.settings import Settings

from ..lock_proof.lock_proof import LockProofs
from . import facts
from .event_chain import read_anchors, read_segments
from .models import (
    Act,
    Anchor,
    Chain,
    FleetTime,
    HostNights,
    Lock,
    NightReport,
    Proven,
    Restored,
    RestoredCollection,
    RestoreReport,
    Segment,
    StorageTime,
)

if TYPE_CHECKING:
    from .signing import ReportKey

LONGEST = timedelta(days=400)
MONTH = timedelta(days=30)
MOST_ACTS = 10_000
WORST = 5
# What a label begins with that names the host of a collection, as in `host:db7`.
# The end of the output is for whoever looks for a mistake. A report is for others.
_NOT_SHOWN = {"output"}


class Reports:
    """Makes the reports. How many statements they need does not depend on how many collections there are."""

    def __init__(self, database: Database, backends: Backends, locks: LockProofs, settings: Settings) -> None:
        self._settings = settings
        self._database = database
        self._backends = backends
        self._locks = locks

    @cached_property
    def key(self) -> "ReportKey":
        """The key that signs reports."""
        from .signing import ReportKey  # a service that makes no report does not import the library

        return ReportKey.of(self._settings)

    def restores(
        self, since: datetime | None = None, until: datetime | None = None, *, proof: bool = False
    ) -> RestoreReport:
        """Return the report about restores between two times (aware); by default, of the last 30 days.

        With `proof`, it has the chain over its events, and what the storages have kept of it. Raises `FieldsError` for
        a time that ends before it begins, for more than 400 days, and for too many events to prove.
        """
        head = self._head(since, until)
        since, until = head["since"], head["until"]
        with self._database.reading(is_snapshot=True) as session:
            known_since = facts.read_known_since(session)
            counted = facts.count_all(session, since, until, known_since)
            newest, proofs = facts.read_newest_good_sizes(session), facts.read_proofs(session)
            segments, unlinked = read_segments(session, since, until) if proof else ([], 0)
            acts = [_act(event) for event in facts.read_acts(session, since, until, MOST_ACTS)]
        collections = [
            _restored(one, self._backends.current, newest.get(one.row.id), proofs.get(one.row.id)) for one in counted
        ]
        anchors, restored = read_anchors(self._database, self._backends) if proof else ([], [])
        chain = Chain(
            segments=[Segment(**one) for one in segments],
            anchors=[Anchor(**one) for one in anchors],
            restored=[Restored(**one) for one in restored],
            unlinked=unlinked,
        )
        report = RestoreReport(
            **head,
            known_since=known_since,
            collections=collections,
            fleet=estimate(collections),
            acts=acts,
            locks=[_lock(name, found) for name, found in sorted(self._locks.read().items())],
            chain=chain if proof else None,
        )
        return self.key.sign(report)

    def nights(self, since: datetime | None = None, until: datetime | None = None) -> NightReport:
        """Return the report about the nights of each host between two times (aware); by default, of the last month.

        Raises `FieldsError` as `restores`.
        """
        if since is None and until is None:
            until = utc_now().replace(day=1, hour=0, minute=0, second=0, microsecond=0)
            since = (until - timedelta(days=1)).replace(day=1)
        head = self._head(since, until)
        with self._database.reading(is_snapshot=True) as session:
            known_since = facts.read_known_since(session)
            counted = facts.count_all(session, head["since"], head["until"], known_since)
            of_runs = read_hosts_of_runs(session)
        hosts = _by_host(counted, of_runs)
        report = NightReport(
            **head,
            known_since=known_since,
            expected=sum(host.expected for host in hosts),
            good=sum(host.good for host in hosts),
            hosts=hosts,
        )
        return self.key.sign(report)

    def _head(self, since: datetime | None, until: datetime | None) -> dict[str, Any]:
        now = utc_now()
        until = min(until or now, now)
        since = since or until - MONTH
        if since >= until:
            raise FieldsError({"since": ["must be before the end of the report, which is now at the latest"]})
        if until - since > LONGEST:
            raise FieldsError({"since": [f"must be at most {LONGEST.days} days before the end of the report"]})
        return {"installation": ensure_id(self._database), "made_at": now, "since": since, "until": until}


def estimate(collections: Sequence[RestoredCollection]) -> FleetTime:
    """Return how long it would take to restore the newest good version of each collection, by storage."""
    by_storage: dict[str, list[RestoredCollection]] = defaultdict(list)
    for one in collections:
        if one.size is not None:
            by_storage[one.storage].append(one)
    storages = [_storage_time(name, found) for name, found in sorted(by_storage.items())]
    known = [one.seconds for one in storages if one.seconds is not None]
    return FleetTime(seconds=max(known) if known and len(known) == len(storages) else None, storages=storages)


def _storage_time(name: str, collections: Sequence[RestoredCollection]) -> StorageTime:
    size = sum(one.size or 0 for one in collections)
    tests = [one.proven for one in collections if one.proven and one.proven.seconds and one.proven.size]
    tested, took = sum(test.size or 0 for test in tests), sum(test.seconds or 0 for test in tests)
    rate = tested / took if took else None
    seconds = (
        sum((one.size or 0) / (one.proven.rate if one.proven and one.proven.rate else rate) for one in collections)
        if rate
        else None
    )
    return StorageTime(
        storage=name,
        collections=len(collections),
        proven=len(tests),
        size=size,
        rate=None if rate is None else round(rate),
        seconds=None if seconds is None else round(seconds, 1),
    )


def _restored(
    counted: facts.Counted, first_storage: str, newest: tuple[int, int] | None, check: DetailedCheck | None
) -> RestoredCollection:
    row = counted.row
    return RestoredCollection(
        id=row.id,
        name=row.filename,
        labels=list(row.labels or ()),
        storage=row.storage or first_storage,
        version=newest and newest[0],
        size=newest and newest[1],
        proven=_proven(row.restore_tested_at, check),
        tried_at=row.restore_tried_at,
        outcome=row.restore_outcome,
        expected_every=row.expected_every,
        nights=counted.nights,
        unexpected=counted.unexpected,
        locked=row.locked,
    )


def _proven(at: datetime | None, check: DetailedCheck | None) -> Proven | None:
    """Return the last good test. Its result is that of a version, which may have been deleted since."""
    if at is None:
        return None
    if check is None or check.at != at:
        return Proven(at=at)
    details = check.details
    size, seconds = details.get("read", details.get("size")), details.get("seconds")
    return Proven(
        at=at,
        version=check.version_number,
        size=size,
        seconds=seconds,
        rate=round(size / seconds) if size and seconds else None,
        message=check.message,
        asserted={name: value for name, value in details.items() if name not in _NOT_SHOWN},
    )


def _act(event: Event) -> Act:
    named = ("position", "at", "kind", "actor", "actor_name", "collection_id", "version_number")
    return Act(**{name: getattr(event, name) for name in named}, reason=event.data.get("reason"))


def _lock(name: str, proof: Any) -> Lock:
    named = ("retains", "tried_at", "proven_at", "not_known")
    return Lock(storage=name, broken=list(proof.broken), **{field: getattr(proof, field) for field in named})


def _by_host(counted: Sequence[facts.Counted], of_runs: Mapping[str, str]) -> list[HostNights]:
    """Return the nights of each host, the worst first."""
    found: dict[tuple[str, Any], list[facts.Counted]] = defaultdict(list)
    for one in counted:
        found[_host_of(one, of_runs)].append(one)
    hosts = [_host(name, source, collections) for (name, source), collections in found.items()]
    return sorted(hosts, key=lambda host: (host.good - host.expected, host.host))


def _host(name: str, source: Any, collections: Sequence[facts.Counted]) -> HostNights:
    known = [(one.nights.expected - one.nights.good, one.row.filename) for one in collections if one.nights]
    worst = [filename for missed, filename in sorted(known, key=lambda each: -each[0]) if missed]
    return HostNights(
        host=name,
        source=source,
        collections=len(collections),
        expected=sum(one.nights.expected for one in collections if one.nights),
        good=sum(one.nights.good for one in collections if one.nights),
        unexpected=sum(one.unexpected for one in collections),
        worst=worst[:WORST],
    )


def _host_of(one: facts.Counted, of_runs: Mapping[str, str]) -> tuple[str, str]:
    """Return the host of a collection, and how it is known: by a label, a run, or the name of the token."""
    row = one.row
    if host := host_of_labels(row.labels):
        return host, "label"
    if of_run := of_runs.get(row.incarnation or row.id):
        return of_run, "run"
    return (one.arrivals[-1].sender, "token") if one.arrivals else ("", "none")
