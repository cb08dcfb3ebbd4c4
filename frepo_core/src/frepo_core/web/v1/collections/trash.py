"""The endpoints of the trash of a collection: list, restore and end."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

from pydantic import Field
from pyramid.response import Response

from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.errors import AccessDeniedError
from frepo_core.services.backups.rows.removal import TrashReason
from frepo_core.services.backups.trash.entries import TrashedVersion
from frepo_core.services.backups.trash.trash import LimitRaiser

from ...base.endpoint import Answer, Endpoint
from ...base.request import FrepoRequest
from ...conventions.answers import created, no_content, resource
from ...conventions.merge_patch import unset
from ...conventions.paging import PageQuery, PageReply, next_cursor, page_request
from ...conventions.types import LARGEST_NUMBER, Time, Whole
from ...schemas import json_schemas
from ...schemas.models import Form, Reply
from ...views.downloads import send_itself
from .collections import COLLECTION
from .models import LimitsPatch
from .version_models import Version

TRASH = f"{COLLECTION}/trash"
ENTRY = f"{TRASH}/{{number:[0-9]+}}"


class TrashEntry(Reply):
    """A version in the trash. It can be restored until `ends_at`, unless the storage gets nearly full before.

    Nobody can end it before `locked_until`. `evicted_by` is the fingerprint of a token, or `console:` and a user, and
    `evicted_by_name` the name of that token, null if it has none, was revoked, or is not for the token of the request
    to see. `labels` are names with values that a plug-in has given it.
    """

    number: int
    name: str
    size: Whole
    sha256: str = Field(pattern=json_schemas.SHA256)
    mime_type: str
    created_at: Time
    evicted_at: Time
    evicted_by: str
    evicted_by_name: str | None
    ends_at: Time
    reason: TrashReason
    note: str
    labels: dict[str, str]
    suspicious: bool
    damaged: bool
    verdict: Verdict
    locked_until: Time | None

    @classmethod
    def of(cls, record: TrashedVersion, names: Mapping[str, str]) -> "TrashEntry":
        """Convert an entry; `names` are those of tokens by fingerprint."""
        return cls(
            number=record.number,
            name=record.name,
            size=record.size,
            sha256=record.digest,
            mime_type=record.mime,
            created_at=record.created_at,
            evicted_at=record.evicted_at,
            evicted_by=record.evicted_by,
            evicted_by_name=names.get(record.evicted_by),
            ends_at=record.ends_at,
            reason=TrashReason(record.reason),
            note=record.note,
            labels=dict(record.labels or {}),
            suspicious=record.is_suspicious,
            damaged=record.is_damaged,
            verdict=record.verdict,
            locked_until=record.locked_until,
        )


class TrashPage(PageReply[TrashEntry]):
    """A page of versions in the trash. `next` is the `cursor` of the next page, null on the last one."""


class TrashQuery(PageQuery):
    """The order of the versions in the trash."""

    sort: Literal["number", "-number"] = "-number"


def list_trash(request: FrepoRequest) -> Answer:
    """List the versions in the trash of a collection, the newest first."""
    query = request.query_as(TrashQuery)
    page = request.services.trash.page(request.collection.id, page_request(query))
    return Answer(body=TrashPage(items=_shown(request, page.items), next=next_cursor(query, page)))


def show(request: FrepoRequest) -> Answer:
    """Show a version in the trash."""
    [entry] = _shown(request, [request.services.trash.find(request.collection.id, _number(request))])
    return resource(entry)


def _shown(request: FrepoRequest, records: Sequence[TrashedVersion]) -> list[TrashEntry]:
    names = request.services.token_inventory.names([record.evicted_by for record in records], by=request.sender)
    return [TrashEntry.of(record, names) for record in records]


class Restoration(Form):
    """How a version is restored. `limits` are raised in the same step, by who may change the collection.

    If the version still has no room, the limits stay as they were. A limit cannot be lowered here.
    """

    limits: LimitsPatch = unset()


def restore(request: FrepoRequest) -> Answer:
    """Restore a version under its number. It is not evicted before the time `trash.keep` is over again."""
    version = request.services.trash.restore(
        request.collection.id, _number(request), by=request.sender, raise_limits=_limits(request)
    )
    return created(request, f"{request.path.partition('/trash/')[0]}/versions/v{version.number}", Version.of(version))


def _limits(request: FrepoRequest) -> LimitRaiser | None:
    """Return what raises the limits of the body; None if it has none."""
    form = request.body_as(Restoration)
    if "limits" not in form.model_fields_set:
        return None
    if not request.has_permission("collection.edit", request.context):
        raise AccessDeniedError("The token may restore versions, but not raise the limits of the collection")
    limits = form.limits.changes()
    return partial(request.services.collections.raise_limits, limits=limits, by=request.sender)


def send_content(request: FrepoRequest) -> Response:
    """Send the content of a version in the trash, whole or in ranges. It stays in the trash, until its time is over."""
    file = request.services.trash_contents.find(request.collection.id, _number(request), **read_by(request))
    return send_itself(request, file)


def read_by(request: FrepoRequest) -> dict[str, Any]:
    """Return who reads, and the password of the version, for `TrashContents`."""
    return {"by": request.sender, "password": request.password_in_header, "address": request.client_address}


def end(request: FrepoRequest) -> Response:
    """Delete a version in the trash for good. Its bytes are deleted if nothing else uses them."""
    request.services.trash.end(request.collection.id, _number(request), by=request.sender)
    return no_content()


def end_all(request: FrepoRequest) -> Response:
    """Delete all that is in the trash of a collection for good."""
    request.services.trash.end(request.collection.id, by=request.sender)
    return no_content()


def _number(request: FrepoRequest) -> int:
    return min(int(request.matchdict["number"][:19]), LARGEST_NUMBER)


ENDPOINTS = [
    Endpoint(
        name="list_trash",
        method="GET",
        path=TRASH,
        view=list_trash,
        summary="List what is in the trash of a collection",
        permission="trash.list",
        query=TrashQuery,
        answers={200: TrashPage},
    ),
    Endpoint(
        name="empty_trash",
        method="DELETE",
        path=TRASH,
        view=end_all,
        summary="End all that is in the trash of a collection",
        permission="trash.end",
        writes=True,
        answers={204: None},
    ),
    Endpoint(
        name="show_trashed_version",
        method="GET",
        path=ENTRY,
        view=show,
        summary="Show a version in the trash",
        permission="trash.list",
        answers={200: TrashEntry},
    ),
    Endpoint(
        name="download_trashed_version",
        method="GET",
        path=f"{ENTRY}/content",
        view=send_content,
        summary="Download a version in the trash",
        permission="trash.read",
        answers={200: None, 206: None, 304: None},
    ),
    Endpoint(
        name="end_trashed_version",
        method="DELETE",
        path=ENTRY,
        view=end,
        summary="End a version in the trash",
        permission="trash.end",
        writes=True,
        answers={204: None},
    ),
    Endpoint(
        name="restore_version",
        method="POST",
        path=f"{ENTRY}/restore",
        view=restore,
        summary="Restore a version from the trash",
        permission="trash.restore",
        body=Restoration,
        writes=True,
        answers={201: Version},
    ),
]
