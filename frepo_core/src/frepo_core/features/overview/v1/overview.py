"""The endpoint of the overview of the service."""

from collections.abc import Sequence
from datetime import date
from typing import Literal

from frepo_core.services.backups.collections.collection_states import UnchangedCollections
from frepo_core.services.backups.collections.states import NOT_WELL, BackupState
from frepo_core.services.reports.restore_ages import RestoreCounts, UntestedCollections
from frepo_core.web.base.endpoint import Answer, Endpoint
from frepo_core.web.base.request import V1, FrepoRequest
from frepo_core.web.conventions.types import Duration, Time, Whole
from frepo_core.web.schemas.models import Reply

from ...second_copies.copy_reports import CopyFigures
from ...senders.feature import SenderServices
from ..activity import Activity
from ..feature import OverviewServices
from ..overview import NAMED, Overview
from .space import CompactReply


class CollectionStates(Reply):
    """How many collections are in each state that applies to them: one may be in several.

    `total` is how many there are, `in_trouble` how many are damaged, overdue, failed, full or
    suspicious, or have a problem that a plug-in reports.
    """

    damaged: Whole
    overdue: Whole
    failed: Whole
    full: Whole
    problem: Whole
    suspicious: Whole
    late: Whole
    new: Whole
    ok: Whole
    total: Whole
    in_trouble: Whole


class Verdicts(Reply):
    """How many versions are good, pending, suspicious and broken, those in quarantine included."""

    good: Whole
    pending: Whole
    suspicious: Whole
    broken: Whole


class TroubledCollection(Reply):
    """A collection whose state is not `ok` or `new`, and why. `states` are all that apply, the worst first."""

    id: str
    name: str
    state: BackupState
    states: list[BackupState]
    since: Time
    reason: str


class StoredBytes(Reply):
    """The bytes that clients sent for all versions and files, and the bytes in the storage, with equal contents once.

    Both count what is in the trash, whose versions have `trash` bytes, equal contents each time. `measured_at` is the
    time of the last sample if there are too many files to add up at each request.
    """

    sent: Whole
    stored: Whole
    blobs: Whole
    trash: Whole
    measured_at: Time


class Uploads(Reply):
    """Uploads of versions and files that were accepted, and uploads of versions that were refused."""

    uploads: Whole
    refusals: Whole

    @classmethod
    def of(cls, activity: Activity) -> "Uploads":
        """Convert the counts."""
        return cls(uploads=activity.uploads, refusals=activity.refusals)


class UntestedCollection(Reply):
    """A collection without a good restore test for too long; the last one was at `restore_tested_at`, null: never."""

    id: str
    name: str
    restore_tested_at: Time | None


class RestoreTests(Reply):
    """How many collections with versions had this outcome in their last restore test.

    `untested` is how many had no good one for longer than `every`. The twenty longest untested ones that the token may
    see are listed.
    """

    good: Whole
    broken: Whole
    not_checked: Whole
    never: Whole
    every: Duration
    untested: Whole
    longest_untested: list[UntestedCollection]

    @classmethod
    def of(cls, counts: RestoreCounts, found: UntestedCollections) -> "RestoreTests":
        """Convert the counts."""
        return cls(
            good=counts.good,
            broken=counts.broken,
            not_checked=counts.unknown,
            never=counts.never,
            every=found.every,
            untested=found.number,
            longest_untested=[
                UntestedCollection(id=one.id, name=one.filename, restore_tested_at=one.restore_tested_at)
                for one in found.collections
            ],
        )


class UnchangedCollection(Reply):
    """A collection whose newest content has arrived again on so many later days."""

    id: str
    name: str
    unchanged_nights: Whole


class Unchanged(Reply):
    """How many collections got the same content on at least `nights` later days.

    The twenty of them with the most nights that the token may see are listed.
    """

    nights: Whole
    number: Whole
    longest: list[UnchangedCollection]

    @classmethod
    def of(cls, found: UnchangedCollections) -> "Unchanged":
        """Convert what was found."""
        longest = [
            UnchangedCollection(id=one.id, name=one.filename, unchanged_nights=one.unchanged_nights)
            for one in found.collections
        ]
        return cls(nights=found.nights, number=found.number, longest=longest)


class SecondCopies(Reply):
    """The second copies in one storage. `behind` contents with `size` bytes have no sound copy there.

    `oldest_at` is since when the one that has waited longest waits, null if none does; `late` whether that is longer
    than the setting `mirror.max_lag`. `versions_with_one_copy` is how many versions have one copy only. At most 100,000
    are counted. `fallbacks` is the number of reads of the whole service that were answered from another copy.
    All copies were checked the last time at `checked_at`, all contents in the first storages at `first_checked_at`.

    `damaged` of those behind had a copy that is wrong or missing now. `stopped` deletions wait for a confirmation: they
    are too many at once. Contents were compared with their copies the last time at `compared_at`. `known` is false if
    that was not done since a recovery or another setting of the mirror: more may be behind then. `state` is
    that of the storage in `/storages`; this process has `skipped` it if it failed several times just now.
    """

    storage: str
    behind: Whole
    size: Whole
    oldest_at: Time | None
    late: bool
    versions_with_one_copy: Whole
    fallbacks: Whole
    checked_at: Time | None
    first_checked_at: Time | None
    damaged: Whole
    stopped: Whole
    compared_at: Time | None
    known: bool
    state: Literal["ok", "full", "unavailable"]
    skipped: bool

    @classmethod
    def of(cls, found: CopyFigures) -> "SecondCopies":
        """Convert the figures."""
        return cls(
            storage=found.storage,
            behind=found.behind,
            size=found.size,
            oldest_at=found.oldest_at,
            late=found.is_late,
            versions_with_one_copy=found.versions,
            fallbacks=found.fallbacks,
            checked_at=found.checked_at,
            first_checked_at=found.first_checked_at,
            damaged=found.damaged,
            stopped=found.stopped,
            compared_at=found.compared_at,
            known=found.is_known,
            state=found.state or "ok",
            skipped=found.skipped,
        )


class SenderWarning(Reply):
    """A sentence about a program or a host that sends now and did not before, or about hosts that send in turn."""

    message: str
    at: Time
    collections: list[str]


class OverviewReply(Reply):
    """Figures about the whole service. Sizes are in bytes.

    `free_space` is null if the storage cannot tell, and so is `total_space`, which would be free if the storage were
    empty: of a disk its size without what is reserved for root. `growth_per_day` is that of the last 30 days, null if
    less than a day is known; at that rate the storage is full on the day `full_on`. `never_restore_tested` is the
    number of collections with versions that never had a restore test. `copies` has an entry for each storage with
    second copies. `compact` is null if nothing is compacted. `problems` are the worst collections that the token may
    see, at most 20. `senders` are the warnings of a week about who sends, the newest first.
    """

    at: Time
    collections: CollectionStates
    versions: Whole
    verdicts: Verdicts
    size: StoredBytes
    storage: str
    free_space: int | None
    total_space: int | None
    growth_per_day: int | None
    full_on: date | None
    last_24_hours: Uploads
    last_30_days: Uploads
    damaged_blobs: Whole
    copies: list[SecondCopies]
    compact: CompactReply | None
    failing_jobs: list[str]
    never_restore_tested: Whole
    restore_tests: RestoreTests
    unchanged: Unchanged
    problems: list[TroubledCollection]
    senders: list[SenderWarning]

    @classmethod
    def of(
        cls,
        found: Overview,
        *,
        restore_tests: RestoreTests,
        unchanged: Unchanged,
        problems: Sequence[TroubledCollection],
        senders: Sequence[SenderWarning],
    ) -> "OverviewReply":
        """Convert the overview."""
        sizes, counts = found.sizes, found.collections
        states = {state.value: number for state, number in counts.by_state.items()}
        return cls(
            at=found.at,
            collections=CollectionStates(**states, total=counts.collections, in_trouble=counts.in_trouble),
            versions=counts.versions,
            verdicts=Verdicts(**vars(found.verdicts)),
            size=StoredBytes(
                sent=sizes.sent, stored=sizes.stored, blobs=sizes.blobs, trash=sizes.trash, measured_at=sizes.at
            ),
            storage=found.storage,
            free_space=found.free_space,
            total_space=found.total_space,
            growth_per_day=found.growth.per_day,
            full_on=found.growth.full_on,
            last_24_hours=Uploads.of(found.last_day),
            last_30_days=Uploads.of(found.last_month),
            damaged_blobs=found.damaged_blobs,
            copies=[SecondCopies.of(one) for one in found.copies],
            compact=CompactReply.of(found.compact) if found.compact else None,
            failing_jobs=list(found.failing_jobs),
            never_restore_tested=restore_tests.never,
            restore_tests=restore_tests,
            unchanged=unchanged,
            problems=list(problems),
            senders=list(senders),
        )


def show_overview(request: FrepoRequest) -> Answer:
    """Show figures about the state of the whole service."""
    overview = request.services.feature(OverviewServices).overviews.read()
    states, ages = request.services.collection_states, request.services.restore_ages
    problems = [
        TroubledCollection(id=one.id, name=one.filename, **vars(state))
        for one, state in states.in_states(NOT_WELL, NAMED, by=request.sender)
    ]
    restore_tests = RestoreTests.of(ages.count(), ages.find_untested(NAMED, by=request.sender))
    unchanged = Unchanged.of(states.unchanged(NAMED, by=request.sender))
    warned = request.services.feature(SenderServices).senders.warnings(overview.at, by=request.sender)
    senders = [SenderWarning(message=one.message, at=one.at, collections=list(one.collections)) for one in warned]
    body = OverviewReply.of(
        overview, restore_tests=restore_tests, unchanged=unchanged, problems=problems, senders=senders
    )
    return Answer(body=body)


ENDPOINTS = [
    Endpoint(
        name="show_overview",
        method="GET",
        path=f"{V1}/overview",
        view=show_overview,
        summary="An overview of the service",
        permission="metrics.view",
        answers={200: OverviewReply},
    ),
]
