"""The models of a collection: its answer, its creation and its patch."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from frepo_core.domain.backups import groups
from frepo_core.domain.backups.locks import LONGEST, NONE
from frepo_core.domain.backups.runs import RunOutcome
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.durations import format_iso_duration
from frepo_core.domain.schedules.backup_deadlines import parse_expectation, parse_grace
from frepo_core.domain.texts.labels import MAX_LABEL, MAX_LABELS, check_labels
from frepo_core.services.backups.collections.collection_pages import CollectionDetails
from frepo_core.services.backups.collections.states import BackupState, StateRecord
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base.records import CollectionRecord, VersionRecord

from ...conventions.entity_tags import entity_tag
from ...conventions.merge_patch import Patch, unset
from ...conventions.types import Duration, FileName, Strategy, Time, Whole
from ...schemas import json_schemas
from ...schemas.models import Reply
from .guard_models import Guards, GuardsPatch, SizeBounds, guards_of
from .hold_models import CollectionHold
from .reported_problems import ReportedProblem


def _expected_every(text: str) -> str:
    """Return the normal form. Raises `ValueError` with a message for the client."""
    return parse_expectation(text).text


def _grace(grace: timedelta) -> timedelta:
    return parse_grace(format_iso_duration(grace))


def _group(name: str) -> str:
    if not groups.is_group(name):
        raise ValueError(f"A group {groups.RULE}")
    return name


def _lock(length: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= length <= LONGEST:
        raise ValueError(f"A lock is at least a second and at most {LONGEST.days} days")
    return length


ExpectedEvery = Annotated[
    str,
    AfterValidator(_expected_every),
    Field(max_length=255, examples=["P1D"], description="A duration, or cron with a time zone."),
]
Label = Annotated[str, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_LABEL})]
Labels = Annotated[list[Label], AfterValidator(check_labels), Field(max_length=MAX_LABELS)]
StorageName = Annotated[str, Field(max_length=64, examples=["local"])]
_GROUP = {"type": "string", "maxLength": groups.MOST, "pattern": groups.PATTERN, "examples": ["databases"]}
Group = Annotated[str, AfterValidator(_group), WithJsonSchema(_GROUP)]
Grace = Annotated[Duration, AfterValidator(_grace)]
Lock = Annotated[Duration, AfterValidator(_lock)]


class Limits(Reply):
    """The limits of a collection; 0 is no limit. Sizes are in bytes."""

    versions: Whole
    version_size: Whole
    total_size: Whole


class LastVersion(Reply):
    """The newest version of a collection that is not in quarantine."""

    number: int
    at: Time
    size: Whole
    sha256: str = Field(pattern=json_schemas.SHA256)
    suspicious: bool
    verdict: Verdict
    verdict_reason: str | None

    @classmethod
    def of(cls, version: VersionRecord) -> "LastVersion":
        """Convert a version."""
        blob = version.file.blob
        return cls(
            number=version.number,
            at=version.created_at,
            size=blob.size,
            sha256=blob.digest,
            suspicious=version.is_suspicious,
            verdict=version.verdict,
            verdict_reason=version.verdict_reason,
        )


class NewestGood(Reply):
    """The newest good version: what the selector `good` names."""

    number: int
    at: Time
    size: Whole


class LastRun(Reply):
    """The run of the backup job that a client has reported last. `at` is when; `reason` is why it failed."""

    outcome: RunOutcome
    at: Time
    reason: str


class Collection(Reply):
    """A collection. `stored_size` counts each version's full size, in bytes; `trash_size` that of each in the trash.

    Versions in quarantine count on their own. Pending versions are among the `versions`, and limits do not count them.
    `compressed_by_sender` is the compression in which the newest good content was sent, which cannot be compacted: send
    it with Content-Encoding; null: none is known.
    `unchanged_nights` is on how many later days the newest content has arrived again.

    `state_reason` says why the collection is in its state, and names the worse and the better ones that apply, too.
    `problems` are those that plug-ins report, the oldest first.

    `restore_tried_at` and `restore_outcome` are of the last restore test, `restore_tested_at` of the last good one.

    `expected_every` is a duration or cron with a time zone; null: no backups are expected. `grace` is null for the
    default, a tenth of that and at least 10 minutes. The next version is due at `due_at`, and overdue at `overdue_at`.
    `locked` is how long nobody can remove a version; null: not at all. `created_by` is the fingerprint of a token, or
    `console:` and a user; null if it is not known. `may` are the actions that the token of the request is allowed in
    this collection. `storage` is where its new versions are stored; null: in the first storage, which is `current` in
    `/storages`. `mirror` is the storage with their second copies; null: that of the service, `none`: they have none.
    Versions of collections with the same `compact_group` may be stored as the difference to each other's; null: to
    those of the same collection only. `trash_keep` is how long what leaves it stays in the trash, if that is shorter
    than in the service; null: as long as there. While it has a `hold`, nothing leaves it; null: it is not on hold.
    """

    id: str
    name: str
    description: str
    labels: list[str]
    strategy: str
    strategy_options: dict[str, Any] | None
    storage: str | None
    mirror: str | None
    compact_group: str | None
    trash_keep: Duration | None
    hold: CollectionHold | None
    limits: Limits
    guards: Guards
    size_bounds: SizeBounds
    locked: Duration | None
    expected_every: str | None
    grace: Duration | None
    due_at: Time | None
    overdue_at: Time | None
    state: BackupState
    states: list[BackupState]
    state_since: Time
    state_reason: str
    problems: list[ReportedProblem]
    arrived_at: Time | None
    last_version: LastVersion | None
    last_run: LastRun | None
    newest_good: NewestGood | None
    versions: Whole
    stored_size: Whole
    pinned_versions: Whole
    quarantined_versions: Whole
    pending_versions: Whole
    trash_size: Whole
    restore_tested_at: Time | None
    restore_tried_at: Time | None
    restore_outcome: Literal["good", "broken", "not checked"] | None
    created_at: Time
    created_by: str | None
    unchanged_nights: Whole
    compressed_by_sender: str | None = Field(examples=["gzip"])
    may: list[str] = Field(examples=[["collection.fetch", "version.upload"]])

    @classmethod
    def of(cls, details: CollectionDetails, *, may: Sequence[str] = ()) -> "Collection":
        """Convert a collection. New columns of collections are added here."""
        record, good = details.record, details.newest_good
        return cls(
            id=record.id,
            name=record.filename,
            description=record.description,
            labels=list(record.labels),
            strategy=record.strategy,
            strategy_options=None if record.strategy_options is None else dict(record.strategy_options),
            storage=record.storage,
            mirror=record.mirror,
            compact_group=record.compact_group,
            trash_keep=record.trash_keep,
            hold=None if record.hold is None else CollectionHold.of(record.hold),
            limits=Limits(**vars(record.limits)),
            guards=guards_of(record.guards),
            size_bounds=SizeBounds(**vars(details.size_bounds)),
            locked=record.locked or None,
            expected_every=record.expected_every,
            grace=record.grace,
            due_at=record.due_at,
            overdue_at=record.overdue_at,
            state=details.state.state,
            states=list(details.state.states),
            state_since=details.state.since,
            state_reason=details.state.reason,
            problems=ReportedProblem.all_of(record.problems or {}),
            arrived_at=record.arrived_at,
            last_version=LastVersion.of(details.newest) if details.newest else None,
            last_run=LastRun.model_validate(record.last_run, from_attributes=True) if record.last_run else None,
            newest_good=good and NewestGood(number=good.number, at=good.created_at, size=good.size),
            versions=record.versions_count + record.pending_count,
            stored_size=record.stored_size + record.pending_size,
            pinned_versions=record.pinned_count,
            quarantined_versions=record.quarantined_count,
            pending_versions=record.pending_count,
            trash_size=details.trash_size,
            restore_tested_at=record.restore_tested_at,
            restore_tried_at=record.restore_tried_at,
            restore_outcome=record.restore_outcome,
            created_at=record.created_at,
            created_by=record.created_by,
            unchanged_nights=record.unchanged_nights,
            compressed_by_sender=record.compressed_by_sender,
            may=list(may),
        )


class LimitsPatch(Patch):
    """New limits. 0 switches a limit off, which needs the role `collections.allow_infinite_limits`."""

    versions: Whole = unset()
    version_size: Whole = unset()
    total_size: Whole = unset()


class CollectionPatch(Patch):
    """What can be changed of a collection. `strategy_options` and `labels` are replaced as a whole.

    Null resets `strategy_options`, `storage`, `mirror`, `compact_group`, `trash_keep` and `grace` to their defaults; no
    backups are expected if `expected_every` is null. Another `storage` is for versions that arrive from now on; `frepo
    storage:migrate` moves the others. Another `mirror` is for all versions: missing second copies are made, and those
    that no collection wants are deleted after `mirror.delete_delay`. `locked` is how long nobody can remove a version,
    administrators included: `P30D`. It can be extended, never shortened or removed, and needs the role
    `collections.lock_versions_in_allowed_collections`. `trash_keep` is how long versions that leave the collection from
    now on stay in the trash, from an hour to as long as in the service, and needs the permission to end the trash. If
    the collection itself is deleted, they stay as long as in the service.
    """

    name: FileName = unset()
    description: str = Field(default_factory=str, max_length=1024)
    labels: Labels = Field(default_factory=list, examples=[["production", "warsaw"]])
    strategy: Strategy = unset()
    strategy_options: dict[str, Any] | None = unset()
    limits: LimitsPatch = unset()
    guards: GuardsPatch = unset()
    locked: Lock | None = unset()
    expected_every: ExpectedEvery | None = unset()
    grace: Grace | None = unset()
    storage: StorageName | None = unset()
    mirror: Annotated[str, Field(max_length=64, examples=["none"])] | None = unset()
    compact_group: Group | None = unset()
    trash_keep: Duration | None = unset()

    def change(self) -> CollectionChange:
        """Convert the patch for the service. A missing value keeps the old one, or takes its default."""
        return collection_change(self.changes())


class NewCollection(CollectionPatch):
    """A new collection. Missing limits are those of the service.

    By default, a version that shrank by more than 50 percent, or whose content is of another kind than before, is put
    into quarantine.
    """

    name: FileName
    id: str | None = Field(None, max_length=64, pattern=json_schemas.UUID4, examples=[json_schemas.A_COLLECTION])


def collection_change(sent: Mapping[str, Any]) -> CollectionChange:
    """Return what the service has to change, from the fields that the client has sent."""
    guards = dict(sent.get("guards", {}))
    if "on_suspicious" in guards:
        guards["action"] = guards.pop("on_suspicious")
    options = sent.get("strategy_options")
    grace, trash_keep = sent.get("grace"), sent.get("trash_keep")
    return CollectionChange(
        limits=sent.get("limits", {}),
        guards=guards,
        strategy=sent.get("strategy"),
        strategy_options={} if options is None and "strategy_options" in sent else options,
        description=sent.get("description"),
        filename=sent.get("name"),
        id=sent.get("id"),
        # An empty text resets the value, which is null here.
        expected_every=(sent["expected_every"] or "") if "expected_every" in sent else None,
        grace=("" if grace is None else format_iso_duration(grace)) if "grace" in sent else None,
        labels=sent.get("labels"),
        storage=(sent["storage"] or "") if "storage" in sent else None,
        mirror=(sent["mirror"] or "") if "mirror" in sent else None,
        compact_group=(sent["compact_group"] or "") if "compact_group" in sent else None,
        trash_keep=("" if trash_keep is None else format_iso_duration(trash_keep)) if "trash_keep" in sent else None,
        locked=(sent["locked"] or NONE) if "locked" in sent else None,
    )


def collection_tag(record: CollectionRecord) -> str:
    """Return the ETag of a collection."""
    # The tag does not depend on the newest version and the state.
    state = StateRecord(state=BackupState.OK, since=record.created_at)
    return entity_tag(Collection.of(CollectionDetails(record=record, newest=None, state=state)), CollectionPatch)
