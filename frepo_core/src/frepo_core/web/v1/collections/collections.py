"""The endpoints of collections."""

from typing import Literal

from pydantic import Field
from pyramid.response import Response

from frepo_core.domain.backups.guards import SAFE_GUARDS, ReasonName
from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.permissions import permitted_in_collection
from frepo_core.errors import AccessDeniedError, FieldsError, RuleError
from frepo_core.services.backups.collections.collection_pages import CollectionDetails, CollectionFilter
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.base.change_log import shown_changes
from frepo_core.services.base.records import CollectionRecord

from ...base.context import collection_context
from ...base.endpoint import Answer, Endpoint
from ...base.request import V1, FrepoRequest
from ...conventions.answers import created, delete_endpoint, edit_endpoint, no_content, resource, show_endpoint
from ...conventions.entity_tags import if_match
from ...conventions.paging import PageQuery, next_cursor, page_request
from ...conventions.problems import detail_of
from ...conventions.types import Duration
from ...schemas.models import Query
from .edit_models import EditedCollection, EditOfOne, EditsOfMany, ManyEdits, NextUpload
from .lean_list import CollectionPage, Fields, fields_of, page_of_fields, parts_of
from .models import Collection, CollectionPatch, Labels, NewCollection, collection_tag

COLLECTIONS = f"{V1}/collections"
COLLECTION = f"{COLLECTIONS}/{{collection}}"


class CollectionQuery(PageQuery):
    """Which collections: part of name, description or id in any case, strategy, states, verdicts of versions, labels.

    `sort=state` begins with the worst state. For `sort=last_version_at`, a collection without a version counts with its
    creation.
    """

    q: str = Field("", max_length=255, description="Part of the name, the description or the id, in any case.")
    strategy: str = Field("", max_length=64, description="Only collections with this strategy.")
    state: list[BackupState] = Field(
        [], max_length=8, description="Only collections to which this state applies. May be repeated."
    )
    verdict: list[Verdict] = Field(
        [], max_length=7, description="Only collections that have a version with this verdict. May be repeated."
    )
    reason: list[ReasonName] = Field(
        [], max_length=7, description="Only collections with a version in quarantine for this reason. May be repeated."
    )
    unchanged_nights: int = Field(
        0,
        ge=0,
        le=100_000,
        description="Only collections whose newest content has arrived again on so many later days, or more.",
    )
    restore_untested_for: Duration | None = Field(
        None, description="Only collections with versions that had no good restore test for so long, such as `P30D`."
    )
    fields: Fields = Field(
        "",
        description="The keys of each collection in the answer, with commas between, such as `state,last_version`. "
        "`id` and `name` are always there. Empty: all keys.",
    )
    label: Labels = Field([], description="Only collections with this label. May be repeated: with all of them.")
    sort: Literal[
        "name",
        "-name",
        "created_at",
        "-created_at",
        "stored_size",
        "-stored_size",
        "last_version_at",
        "-last_version_at",
        "state",
        "-state",
    ] = "name"


def list_collections(request: FrepoRequest) -> Answer:
    """List the collections that the token may see; without the role for lists, those that list the token."""
    query = request.query_as(CollectionQuery)
    wanted = CollectionFilter(
        text=query.q,
        strategy=query.strategy,
        states=query.state,
        labels=query.label,
        verdicts=query.verdict,
        unchanged_nights=query.unchanged_nights,
        reasons=query.reason,
        untested_for=query.restore_untested_for,
    )
    fields = fields_of(query.fields)
    page = request.services.collection_pages.page(
        wanted, page_request(query), by=request.sender, parts=parts_of(fields)
    )
    items = [_shown(request, one) for one in page.items]
    return Answer(body=page_of_fields(items, next_cursor(query, page), fields))


def create(request: FrepoRequest) -> Answer:
    """Create a collection. The token of the request is put on its list."""
    change = request.body_as(NewCollection).change()
    record = request.services.collections.create(change, by=request.sender, default_guards=SAFE_GUARDS)
    return created(request, f"{COLLECTIONS}/{record.id}", body_of(request, record), collection_tag(record))


def show(request: FrepoRequest) -> Answer:
    """Show a collection."""
    return _answer(request, request.collection)


def edit(request: FrepoRequest) -> Answer:
    """Change a collection. Missing fields keep their values."""
    edited = request.services.collections.edit(
        request.collection.id,
        request.body_as(CollectionPatch).change(),
        by=request.sender,
        precondition=if_match(request, collection_tag),
    )
    body = EditedCollection(**dict(body_of(request, edited.collection)), next_upload=NextUpload.of(edited.next_upload))
    return resource(body, collection_tag(edited.collection))


def edit_many(request: FrepoRequest) -> Answer:
    """Make one change of many collections, or say what it would do. Those that refuse it say why."""
    form = request.body_as(ManyEdits)
    return Answer(body=EditsOfMany(items=[_edit_one(request, one.lower(), form) for one in form.collections]))


def _edit_one(request: FrepoRequest, collection_id: str, form: ManyEdits) -> EditOfOne:
    name = ""
    try:
        context = collection_context(request, collection_id)
        if context.collection is None or not request.has_permission("collection.edit", context):
            raise AccessDeniedError(f"The token may not edit the collection {collection_id}")
        name = context.collection.filename
        edited = request.services.collections.edit(
            collection_id, form.change.change(), by=request.sender, simulate=form.dry_run
        )
    except (AccessDeniedError, FieldsError, RuleError) as error:
        why = detail_of(error, error.message)
        return EditOfOne(id=collection_id, name=name, before={}, after={}, next_upload=None, error=why)
    changes = shown_changes(context.collection, edited.collection)
    return EditOfOne(
        id=collection_id,
        name=name,
        before=dict(changes.before),
        after=dict(changes.after),
        next_upload=NextUpload.of(edited.next_upload),
        error=None,
    )


class DeletionQuery(Query):
    """What becomes of the versions of the collection."""

    versions: Literal["refuse", "trash"] = Field(
        "refuse",
        description="`refuse`: delete only an empty collection. `trash`: move its versions into the trash, from "
        "where they can be restored with the collection. That is refused if the trash is off.",
    )


def remove(request: FrepoRequest) -> Response:
    """Delete a collection, into the trash, from where it can be restored."""
    request.services.collections.delete(
        request.collection.id,
        by=request.sender,
        precondition=if_match(request, collection_tag),
        with_versions=request.query_as(DeletionQuery).versions == "trash",
    )
    return no_content()


def _answer(request: FrepoRequest, record: CollectionRecord) -> Answer:
    return resource(body_of(request, record), collection_tag(record))


def body_of(request: FrepoRequest, record: CollectionRecord) -> Collection:
    """Return a collection as the token of the request sees it."""
    return _shown(request, request.services.collection_pages.details(record, by=request.sender))


def _shown(request: FrepoRequest, details: CollectionDetails) -> Collection:
    is_read_only = request.services.settings.read_only
    may = permitted_in_collection(request.sender, listed=details.listed, is_read_only=is_read_only)
    return Collection.of(details, may=may)


ENDPOINTS = [
    Endpoint(
        name="list_collections",
        method="GET",
        path=COLLECTIONS,
        view=list_collections,
        summary="List collections",
        permission="token",
        query=CollectionQuery,
        answers={200: CollectionPage},
    ),
    Endpoint(
        name="create_collection",
        method="POST",
        path=COLLECTIONS,
        view=create,
        summary="Create a collection",
        permission="collection.create",
        body=NewCollection,
        writes=True,
        answers={201: Collection},
        has_etag=True,
    ),
    Endpoint(
        name="edit_collections",
        method="POST",
        path=f"{COLLECTIONS}:edit",
        view=edit_many,
        summary="Change many collections, or try it",
        permission="token",
        body=ManyEdits,
        writes=True,
        answers={200: EditsOfMany},
    ),
    show_endpoint(
        name="show_collection",
        path=COLLECTION,
        view=show,
        summary="Show a collection",
        permission="collection.fetch",
        answers={200: Collection},
    ),
    edit_endpoint(
        name="edit_collection",
        path=COLLECTION,
        view=edit,
        summary="Change a collection",
        permission="collection.edit",
        body=CollectionPatch,
        answers={200: EditedCollection},
    ),
    delete_endpoint(
        name="delete_collection",
        path=COLLECTION,
        view=remove,
        summary="Delete a collection",
        permission="collection.delete",
        query=DeletionQuery,
    ),
]
