"""The models of a collection: its answer, its creation and its patch."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from frepo_core.domain.backup_guards import GuardAction
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.services.collections.collection_change import CollectionChange
from frepo_core.services.collections.collection_pages import CollectionDetails
from frepo_core.services.records import CollectionRecord, VersionRecord

from ...schemas import json_schemas
from ...schemas.models import Reply
from ..conventions.entity_tags import entity_tag
from ..conventions.merge_patch import Patch, unset
from ..conventions.types import Duration, FileName, Percent, Strategy, Time, Whole


class Limits(Reply):
    """The limits of a collection; 0 is no limit. Sizes are in bytes."""

    versions: Whole
    version_size: Whole
    total_size: Whole


class Guards(Reply):
    """The guards against broken backups and early deletion; a guard of 0 is off."""

    min_retention: Duration
    min_version_size: Whole
    max_shrink_percent: Percent
    on_suspicious: GuardAction


class LastVersion(Reply):
    """The newest version of a collection."""

    number: int
    at: Time
    size: Whole
    sha256: str = Field(pattern=json_schemas.SHA256)
    suspicious: bool

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
        )


class Collection(Reply):
    """A collection. `stored_size` counts each version's full size, in bytes."""

    id: str
    name: str
    description: str
    strategy: str
    strategy_options: dict[str, Any] | None
    limits: Limits
    guards: Guards
    last_version: LastVersion | None
    versions: Whole
    stored_size: Whole
    created_at: Time

    @classmethod
    def of(cls, details: CollectionDetails) -> "Collection":
        """Convert a collection. New columns of collections are added here."""
        record = details.record
        return cls(
            id=record.id,
            name=record.filename,
            description=record.description,
            strategy=record.strategy,
            strategy_options=None if record.strategy_options is None else dict(record.strategy_options),
            limits=_limits(record),
            guards=_guards(record),
            last_version=LastVersion.of(details.newest) if details.newest else None,
            versions=record.versions_count,
            stored_size=record.stored_size,
            created_at=record.created_at,
        )


def _limits(record: CollectionRecord) -> Limits:
    return Limits(versions=record.limits.count, version_size=record.limits.one, total_size=record.limits.total)


def _guards(record: CollectionRecord) -> Guards:
    guards = record.guards
    return Guards(
        min_retention=guards.min_retention,
        min_version_size=guards.min_version_size,
        max_shrink_percent=guards.max_shrink_percent,
        on_suspicious=guards.action,
    )


class CollectionPage(Reply):
    """A page of collections. `next` is the `cursor` of the next page, null on the last one."""

    items: list[Collection]
    next: str | None


class LimitsPatch(Patch):
    """New limits. 0 switches a limit off, which needs the role `collections.allow_infinite_limits`."""

    versions: Whole = unset()
    version_size: Whole = unset()
    total_size: Whole = unset()


class GuardsPatch(Patch):
    """New guards; 0 switches one off."""

    min_retention: Duration = unset()
    min_version_size: Whole = unset()
    max_shrink_percent: Percent = unset()
    on_suspicious: GuardAction = unset()


class CollectionPatch(Patch):
    """What can be changed of a collection. `strategy_options` are replaced as a whole; null resets them."""

    name: FileName = unset()
    description: str = Field(default_factory=str, max_length=1024)
    strategy: Strategy = unset()
    strategy_options: dict[str, Any] | None = unset()
    limits: LimitsPatch = unset()
    guards: GuardsPatch = unset()

    def change(self) -> CollectionChange:
        """Convert the patch for the service. A missing value keeps the old one, or takes its default."""
        return collection_change(self.changes())


class NewCollection(CollectionPatch):
    """A new collection. Missing limits are those of the service."""

    name: FileName
    id: str | None = Field(None, max_length=64, pattern=json_schemas.UUID4, examples=[json_schemas.A_COLLECTION])


_LIMITS = {"versions": COUNT, "version_size": ONE, "total_size": TOTAL}


def collection_change(sent: Mapping[str, Any]) -> CollectionChange:
    """Return what the service has to change, from the fields that the client has sent."""
    guards = dict(sent.get("guards", {}))
    if "on_suspicious" in guards:
        guards["action"] = guards.pop("on_suspicious")
    options = sent.get("strategy_options")
    return CollectionChange(
        limits={_LIMITS[name]: value for name, value in sent.get("limits", {}).items()},
        guards=guards,
        strategy=sent.get("strategy"),
        strategy_options={} if options is None and "strategy_options" in sent else options,
        description=sent.get("description"),
        filename=sent.get("name"),
        id=sent.get("id"),
    )


def collection_tag(record: CollectionRecord) -> str:
    """Return the ETag of a collection."""
    return entity_tag(Collection.of(CollectionDetails(record=record, newest=None)), CollectionPatch)
