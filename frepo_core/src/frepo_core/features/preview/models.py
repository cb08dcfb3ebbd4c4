"""The models of a preview of the retention: the request, and the answer."""

from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field

from frepo_core.domain.schedules.backup_deadlines import LONGEST, parse_expectation
from frepo_core.domain.sizes import MAX_SIZE
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.web.conventions.merge_patch import Patch, unset
from frepo_core.web.conventions.types import Duration, Moment, Strategy, Time, Whole
from frepo_core.web.schemas.models import Form, Reply
from frepo_core.web.v1.collections.guard_models import GuardsPatch
from frepo_core.web.v1.collections.models import ExpectedEvery, Limits, LimitsPatch, Lock, collection_change

from .preview import NIGHTLY, TWO_YEARS, UploadPlan
from .timeline import Protection

if TYPE_CHECKING:
    from .preview import Preview
    from .timeline import Day, Fate, Refused


def _bounded(duration: Any) -> Any:
    if not duration or duration > 10 * LONGEST:
        raise ValueError("Expected more than nothing and at most a hundred years")
    return duration


class ImaginedUploads(Form):
    """Uploads to imagine: how often, for how long, and the size of the first one, in bytes.

    Null is now for `start`, and the size of the newest version for `size`. The size grows by `growth` percent a month.
    At most 10,000 uploads are simulated, and 20,000 versions with those that are there.
    """

    every: ExpectedEvery = NIGHTLY.text
    duration: Annotated[Duration, AfterValidator(_bounded)] = Field(TWO_YEARS, json_schema_extra={"default": "P730D"})
    size: Whole | None = None
    growth: float = Field(0.0, ge=-50, le=100, strict=True)
    start: Moment | None = None

    def plan(self) -> UploadPlan:
        """Convert it for the service."""
        return UploadPlan(
            every=parse_expectation(self.every),
            duration=self.duration,
            size=self.size,
            growth=self.growth,
            start=self.start,
        )


class PreviewRequest(Patch):
    """The rules to try, which are not saved; those that are missing are the collection's own.

    Without a `schedule`, one upload now is simulated. With `empty`, the versions that are there are left out.
    """

    strategy: Strategy = unset()
    strategy_options: dict[str, Any] | None = unset()
    limits: LimitsPatch = unset()
    guards: GuardsPatch = unset()
    locked: Lock | None = unset()
    schedule: ImaginedUploads | None = None
    empty: Annotated[bool, Field(strict=True)] = False

    def change(self) -> CollectionChange:
        """Return the rules for the service."""
        return collection_change(
            {name: value for name, value in self.changes().items() if name not in {"schedule", "empty"}}
        )


class PreviewedVersion(Reply):
    """A version, and what happens to it. `imagined`: it is one of the schedule.

    `rules` are the names of the strategy's rules that keep it, or that kept it before it was evicted; empty for a
    strategy that does not name them. It is evicted by the upload of version `evicted_by`, because of `cause`: no `rule`
    keeps it any longer, or its `room` is needed. `protection` is what keeps it at the end, whatever the strategy does.
    """

    number: int
    at: Time
    size: Whole
    imagined: bool
    kept: bool
    rules: list[str]
    protection: Protection | None
    evicted_at: Time | None
    evicted_by: int | None
    cause: Literal["rule", "room"] | None

    @classmethod
    def of(cls, fate: "Fate") -> "PreviewedVersion":
        """Convert what happens to a version."""
        eviction = fate.eviction
        return cls(
            number=fate.version.number,
            at=fate.version.created_at,
            size=fate.version.size,
            imagined=fate.is_imagined,
            kept=eviction is None,
            rules=list(fate.rules),
            protection=fate.protection,
            evicted_at=eviction.at if eviction else None,
            evicted_by=eviction.by if eviction else None,
            cause=eviction.cause if eviction else None,
        )


class RefusedUpload(Reply):
    """An upload of the schedule that is refused. `code` is the number in docs/errors.md."""

    at: Time
    size: Whole
    code: int
    message: str

    @classmethod
    def of(cls, refused: "Refused") -> "RefusedUpload":
        """Convert a refusal."""
        error = refused.error
        return cls(at=refused.at, size=refused.size, code=error.number, message=error.explanation or str(error))


class StorageDay(Reply):
    """What the collection holds at the end of a day (UTC), in bytes; `trash_size` is the size of its trash.

    Sums beyond 2^63-1 are shown as that.
    """

    day: date
    versions: Whole
    size: Whole
    trash_size: Whole

    @classmethod
    def of(cls, day: "Day") -> "StorageDay":
        """Convert a day."""
        sizes = {"size": min(day.size, MAX_SIZE), "trash_size": min(day.trash_size, MAX_SIZE)}
        return cls(day=day.day, versions=day.versions, **sizes)


class RetentionPreview(Reply):
    """What happens to each version, and the storage at the end of each day with an upload.

    `peak` is the day with the largest sum of both sizes, null without an upload. `complete` is false if the simulation
    was ended early, because the strategy had read too many versions or taken two seconds of processor time.
    """

    strategy: str
    strategy_options: dict[str, Any] | None
    limits: Limits
    start: Time
    versions: list[PreviewedVersion]
    refused: list[RefusedUpload]
    days: list[StorageDay]
    peak: StorageDay | None
    complete: bool

    @classmethod
    def of(cls, preview: "Preview") -> "RetentionPreview":
        """Convert a preview."""
        record, timeline = preview.collection, preview.timeline
        peak = max(timeline.days, key=lambda day: day.size + day.trash_size, default=None)
        return cls(
            strategy=record.strategy,
            strategy_options=None if record.strategy_options is None else dict(record.strategy_options),
            limits=Limits(**vars(record.limits)),
            start=preview.start,
            versions=[PreviewedVersion.of(fate) for fate in timeline.fates],
            refused=[RefusedUpload.of(refused) for refused in timeline.refused],
            days=[StorageDay.of(day) for day in timeline.days],
            peak=StorageDay.of(peak) if peak else None,
            complete=timeline.is_complete,
        )
