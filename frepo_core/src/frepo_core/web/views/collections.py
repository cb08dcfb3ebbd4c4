"""The endpoints of collections."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, WithJsonSchema

from frepo_core.domain.durations import format_duration
from frepo_core.domain.limits import COUNT, ONE, TOTAL
from frepo_core.errors import FieldsError
from frepo_core.services.backups.rotation.next_upload import NextUpload
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base.records import CollectionRecord

from ..base.endpoint import COLLECTION_ENVELOPE, Answer, Endpoint
from ..base.request import FrepoRequest
from ..schemas import json_schemas
from ..schemas.models import (
    Count,
    Duration,
    FileName,
    Form,
    Password,
    Percent,
    Reply,
    Simulate,
    Size,
    Strategy,
    WireDate,
)
from .field_names import FIELDS

# What happens to a suspicious version. `keep` is `mark` elsewhere.
OnSuspicious = Literal["refuse", "keep", "quarantine"]


class CollectionForm(Form):
    """The fields of both creation and change. A missing field keeps its value, or gets its default."""

    RULES_TITLE: ClassVar = FieldsError.FORM

    maxBackupsCount: Count | None = None
    maxOneVersionSize: Size | None = None
    maxCollectionSize: Size | None = None
    strategy: Strategy | None = None
    description: str | None = Field(None, max_length=1024)
    password: Password | None = None
    minRetention: Duration | None = None
    minVersionSize: Size | None = None
    maxShrinkPercent: Percent | None = None
    onSuspicious: OnSuspicious | None = None
    storage: str | None = Field(None, max_length=64, description="An empty text: the first storage.")
    mirror: str | None = Field(
        None, max_length=64, description="The storage with second copies; `none`: none; an empty text: the service's."
    )

    def change(self, **more: Any) -> CollectionChange:
        """Convert the form for the service."""
        limits = {COUNT: self.maxBackupsCount, ONE: self.maxOneVersionSize, TOTAL: self.maxCollectionSize}
        guards = {
            "min_retention": self.minRetention,
            "min_version_size": self.minVersionSize,
            "max_shrink_percent": self.maxShrinkPercent,
            "action": "mark" if self.onSuspicious == "keep" else self.onSuspicious,
        }
        return CollectionChange(
            limits={field: value for field, value in limits.items() if value is not None},
            guards={name: value for name, value in guards.items() if value is not None},
            strategy=self.strategy,
            description=self.description,
            password=self.password,
            storage=self.storage,
            mirror=self.mirror,
            **more,
        )


class CreateCollection(CollectionForm):
    """A new collection."""

    filename: FileName
    id: Annotated[str | None, Field(max_length=64), WithJsonSchema(json_schemas.CHOSEN_ID, mode="validation")] = None


class EditCollection(CollectionForm):
    """Changes of a collection."""

    collection: str = Field(max_length=64, examples=[json_schemas.A_COLLECTION])
    filename: FileName | None = None


class CollectionObject(Reply):
    """A collection. Sizes are in bytes. Passwords and token ids are never included."""

    id: str
    max_backups_count: int
    max_one_backup_version_size: int
    max_collection_size: int
    created_at: WireDate
    strategy: str
    description: str
    filename: str
    versions_count: int
    stored_size: int
    last_version: int
    password_protected: bool
    min_retention: Annotated[str, Field(pattern=json_schemas.WRITTEN_DURATION, examples=["1w"])] | None
    min_version_size: int
    max_shrink_percent: int
    on_suspicious: OnSuspicious
    storage: str | None
    mirror: str | None

    @classmethod
    def of(cls, record: CollectionRecord) -> "CollectionObject":
        """Convert a collection."""
        return cls(
            id=record.id,
            max_backups_count=record.limits.versions,
            max_one_backup_version_size=record.limits.version_size,
            max_collection_size=record.limits.total_size,
            created_at=WireDate.of(record.created_at),
            strategy=record.strategy,
            description=record.description,
            filename=record.filename,
            versions_count=record.versions_count + record.pending_count,
            stored_size=record.stored_size + record.pending_size,
            last_version=record.last_number,
            password_protected=record.password_hash is not None,
            min_retention=format_duration(record.guards.min_retention),
            min_version_size=record.guards.min_version_size,
            max_shrink_percent=record.guards.max_shrink_percent,
            on_suspicious="keep" if record.guards.action == "mark" else record.guards.action,
            storage=record.storage,
            mirror=record.mirror,
        )


class CollectionReply(Reply):
    """An answer with one collection."""

    status: str = "OK"
    error_code: int | None = None
    http_code: int = 200
    exit_code: int = 200
    errors: dict[str, str] = Field(default_factory=dict)
    collection: CollectionObject
    context: dict[str, Any] | None = None


class NextUploadObject(Reply):
    """The numbers of the versions that the next upload would evict, or why it would be refused."""

    evicts: list[int]
    refused: str | None

    @classmethod
    def of(cls, upload: NextUpload | None) -> "NextUploadObject | None":
        """Convert it."""
        return cls(evicts=list(upload.evicts), refused=upload.refusal(FIELDS)) if upload else None


class EditedCollectionReply(CollectionReply):
    """A collection after an edit. `next_upload` is null if the edit does not change which versions are evicted."""

    next_upload: NextUploadObject | None


def create(request: FrepoRequest) -> Answer:
    """Create a collection. The creator's token is added to its list."""
    form = request.body_as(CreateCollection)
    record = request.services.collections.create(
        form.change(filename=form.filename, id=form.id), by=request.sender, simulate=_simulate(request)
    )
    return _changed(record)


def edit(request: FrepoRequest) -> Answer:
    """Change a collection. Missing fields keep their values."""
    form = request.body_as(EditCollection)
    edited = request.services.collections.edit(
        request.collection.id, form.change(filename=form.filename), by=request.sender, simulate=_simulate(request)
    )
    body = EditedCollectionReply(
        http_code=202,
        exit_code=202,
        collection=CollectionObject.of(edited.collection),
        next_upload=NextUploadObject.of(edited.next_upload),
    )
    return Answer(status=202, body=body)


def fetch(request: FrepoRequest) -> Answer:
    """Show a collection."""
    return Answer(body=CollectionReply(collection=CollectionObject.of(request.collection)))


def remove(request: FrepoRequest) -> Answer:
    """Delete an empty collection."""
    record = request.services.collections.delete(request.collection.id, by=request.sender, simulate=_simulate(request))
    return Answer(body=CollectionReply(status="OK, collection was deleted", collection=CollectionObject.of(record)))


def _simulate(request: FrepoRequest) -> bool:
    return request.query_as(Simulate).simulate


def _changed(record: CollectionRecord) -> Answer:
    body = CollectionReply(http_code=202, exit_code=202, collection=CollectionObject.of(record))
    return Answer(status=202, body=body)


ENDPOINTS = [
    Endpoint(
        name="create_collection",
        method="POST",
        path="/repository/collection",
        view=create,
        summary="Create a collection",
        permission="collection.create",
        query=Simulate,
        body=CreateCollection,
        writes=True,
        answers={202: CollectionReply},
        envelope=COLLECTION_ENVELOPE,
    ),
    Endpoint(
        name="edit_collection",
        method="PUT",
        path="/repository/collection",
        view=edit,
        summary="Edit a collection",
        permission="collection.edit",
        query=Simulate,
        body=EditCollection,
        collection_field="collection",
        writes=True,
        answers={202: EditedCollectionReply},
        envelope=COLLECTION_ENVELOPE,
    ),
    Endpoint(
        name="fetch_collection",
        method="GET",
        path="/repository/collection/{collection}",
        view=fetch,
        summary="Show a collection",
        permission="collection.fetch",
        answers={200: CollectionReply},
        envelope=COLLECTION_ENVELOPE,
    ),
    Endpoint(
        name="delete_collection",
        method="DELETE",
        path="/repository/collection/{collection}",
        view=remove,
        summary="Delete an empty collection",
        permission="collection.delete",
        query=Simulate,
        writes=True,
        answers={200: CollectionReply},
        envelope=COLLECTION_ENVELOPE,
    ),
]
