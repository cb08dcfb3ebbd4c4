"""What reports consist of: as `/api/v1` answers it, and as it is signed."""

from typing import Any, Literal

from pydantic import Field

from frepo_core.web.conventions.types import Time, Whole
from frepo_core.web.schemas.models import Reply


class Gap(Reply):
    """A time without a good backup, in which `missed` were expected. It ends with the next good one, or the report."""

    since: Time
    until: Time
    missed: int


class Nights(Reply):
    """On how many of the `expected` times a good backup has arrived, and the newest gaps, the oldest first."""

    expected: int
    good: int
    gaps: list[Gap]


class Proven(Reply):
    """The last restore test that was good.

    `version`, `size` (bytes), `seconds`, `rate` (bytes a second), `message` and `asserted`, the details of the test,
    are null if its version was deleted since.
    """

    at: Time
    version: int | None = None
    size: int | None = None
    seconds: float | None = None
    rate: int | None = None
    message: str | None = None
    asserted: dict[str, Any] | None = None


class RestoredCollection(Reply):
    """What a report says of one collection.

    `version` and `size` (bytes) are those of the newest good version, null without one. `proven` is null if no
    restore test was ever good; `tried_at` and `outcome` are those of the last test. `nights` is null if no backups are
    expected, or more than 10,000. `unexpected` counts the good backups of a collection without an expectation. `locked`
    is how long each version is locked, in seconds.
    """

    id: str
    name: str
    labels: list[str]
    storage: str
    version: int | None
    size: int | None
    proven: Proven | None
    tried_at: Time | None
    outcome: str | None
    expected_every: str | None
    nights: Nights | None
    unexpected: int
    locked: int


class StorageTime(Reply):
    """How long it would take to restore the newest good versions in a storage, one after the other.

    `size` (bytes) is that of all `collections` that have one, `proven` of which were restored in a test. `rate` (bytes
    a second) is that of these tests; the others are taken to be as fast. `seconds` is null if there was none.
    """

    storage: str
    collections: int
    proven: int
    size: Whole
    rate: int | None
    seconds: float | None


class FleetTime(Reply):
    """How long it would take to restore the newest good version of each collection, all storages at the same time.

    `seconds` is that of the slowest storage, null if one of them has no restore test to judge by.
    """

    seconds: float | None
    storages: list[StorageTime]


class Act(Reply):
    """Who has released, deleted or given back something, or has taken a hold off it. `at` is in UTC."""

    position: int
    at: Time
    kind: str
    actor: str
    actor_name: str | None
    collection_id: str | None
    version_number: int | None
    reason: str | None


class Lock(Reply):
    """What is known of the locks of a storage: when it refused last to break one, and what it let happen."""

    storage: str
    retains: bool
    tried_at: Time | None
    proven_at: Time | None
    broken: list[str]
    not_known: str


class Report(Reply):
    """What all reports begin with.

    `installation` is the id of the database. `known_since` is the time of the oldest event that is kept, null without
    one: nothing is counted before it.
    """

    report: str
    format: int = 1
    installation: str
    made_at: Time
    since: Time
    until: Time
    known_since: Time | None
    key: str = Field("", description="The public key of the installation (Ed25519, hex).")
    signature: str = Field("", description="Over all other members, see docs/evidence.md.")


class Segment(Reply):
    """A part of the chain without a break. `link` is that of the event at the position `after`, empty at the begin.

    `entries` are the events after it in their order: a whole event if the report rests on it, the digest of any other.
    `head` is the link of the last one. `begins` says why there is no link before: `start`, the chain begins here;
    `since`, it is that of the last event before the report; `pruned`, the events before are no longer kept;
    `missing`, events before are gone, and older ones are there; `changed`, the stored link does not follow from the one
    before.
    """

    begins: Literal["start", "since", "pruned", "missing", "changed"]
    after: int
    link: str
    entries: list[dict[str, Any] | str]
    head: str


class Anchor(Reply):
    """What the journal of a storage has kept of the chain: the link at a position, in the file with this key.

    `fits` is true if the database has the same link there, false if another one, or none after its last event: then
    the events were changed, or the database was restored; null if the event was pruned. `problem` is why the journal
    could not be read.
    """

    storage: str
    key: str
    position: int | None = None
    link: str | None = None
    fits: bool | None = None
    problem: str | None = None


class Restored(Reply):
    """A break: the database was restored from a backup, as the journal of a storage has seen.

    `after` is the position of the last event that the journal and the backup have in common, with its link, null if it
    was pruned. What the storage has kept of later events, until `at`, the database does not have.
    """

    begins: Literal["restored"]
    storage: str
    at: str
    after: int
    link: str | None


class Chain(Reply):
    """The chain over the events of the report. `unlinked` counts those from before there was one."""

    segments: list[Segment]
    anchors: list[Anchor]
    restored: list[Restored]
    unlinked: int


class RestoreReport(Report):
    """What was restored, what has arrived, who has deleted what, and what the locks are worth."""

    report: Literal["restores"] = "restores"
    collections: list[RestoredCollection]
    fleet: FleetTime
    acts: list[Act]
    locks: list[Lock]
    chain: Chain | None


class HostNights(Reply):
    """The nights of one host: those of all collections that it has sent to. `source` says how its name is known."""

    host: str
    source: Literal["label", "run", "token", "none"]
    collections: int
    expected: int
    good: int
    unexpected: int
    worst: list[str] = Field(description="The names of up to 5 collections that missed most.")


class NightReport(Report):
    """On how many of the expected nights the backups of each host have arrived, the worst host first."""

    report: Literal["nights"] = "nights"
    expected: int
    good: int
    hosts: list[HostNights]
