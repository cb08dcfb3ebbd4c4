"""The endpoints of versions: upload, list, fetch and delete."""

from typing import Any

from pydantic import Field
from pyramid.response import Response

from frepo_core.domain.backups.verdicts import Verdict
from frepo_core.domain.signatures import repr_digest
from frepo_core.services.backups.versions.add_version import AddedVersion
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.services.base.records import VersionRecord

from ..base.endpoint import LINK_ENVELOPE, VERSION_ENVELOPE, Answer, Endpoint
from ..base.request import FrepoRequest
from ..content.request_headers import IDEMPOTENCY_KEY, IF_MATCH, idempotency_of, last_version_of, recorded_reply
from ..content.version_upload import before_add_with, store_version
from ..schemas import json_schemas
from ..schemas.models import Flag, Password, Query, Reply, Simulate, WireDate
from .collections import CollectionObject


class FetchQuery(Query):
    """The parameters of fetching a version."""

    password: Password = ""
    redirect: Flag = True


class VersionFile(Reply):
    """The file of a version."""

    id: int
    filename: str


class VersionObject(Reply):
    """A version. The size is in bytes.

    `quarantine_reason` of one in quarantine is `check` and the name of the upload check that found it broken, the code
    name of the guard that it violates, or `overtaken`. `verdict` is what is known about the version, and
    `verdict_reason` why, in at most 200 characters; `pending`: a check of it has not ended.
    """

    id: str
    version: int
    creation_date: WireDate
    file: VersionFile
    size: int
    sha256: str = Field(pattern=json_schemas.SHA256)
    quarantined: bool
    quarantine_reason: str | None
    verdict: Verdict
    verdict_reason: str | None

    @classmethod
    def of(cls, record: VersionRecord) -> "VersionObject":
        """Convert a version."""
        return cls(
            id=record.id,
            version=record.number,
            creation_date=WireDate.of(record.created_at),
            file=VersionFile(id=record.file.id, filename=record.file.stored_name),
            size=record.file.blob.size,
            sha256=record.file.blob.digest,
            quarantined=record.is_quarantined,
            quarantine_reason=record.quarantine_reason,
            verdict=record.verdict,
            verdict_reason=record.verdict_reason,
        )


class AddedVersionReply(Reply):
    """The new version, and its collection."""

    status: str = "OK"
    error_code: int | None = None
    http_code: int = 200
    exit_code: int = 200
    field: str | None = None
    errors: dict[str, str] | None = None
    version: VersionObject
    collection: CollectionObject


class ListedVersion(Reply):
    """A version, and a link to its file that is valid for ten minutes."""

    details: VersionObject
    url: str


class VersionListReply(Reply):
    """All versions by number, ascending."""

    status: str = "OK"
    error_code: int | None = None
    exit_code: int = 200
    versions: dict[str, ListedVersion]


class VersionLinkReply(Reply):
    """A link to a version's file."""

    status: str = "OK"
    error_code: int = 200
    exit_code: int = 200
    url: str


class DeletedVersionReply(Reply):
    """The answer to a deletion."""

    status: str = "OK, object deleted"
    error_code: int = 200
    exit_code: int = 200


def add(request: FrepoRequest) -> Answer:
    """Add a version; the body is the content."""
    added = store_version(request, last_version_of(request), _idempotency_of(request))
    if isinstance(added, RecordedAnswer):
        return recorded_reply(added)
    return Answer(body=_reply(added), headers={"Repr-Digest": repr_digest(added.version.file.blob.digest)})


def before_add(request: FrepoRequest) -> int | None:
    """Decide about a version before its content arrives."""
    return before_add_with(request, _idempotency_of(request))


def _idempotency_of(request: FrepoRequest) -> IdempotentUpload[AddedVersion] | None:
    # With its time: a collection may be deleted, and its id chosen again. Earlier versions recorded the id alone.
    identifier = request.collection.id
    scope = f"{identifier} {request.collection.created_at.isoformat()}"
    return idempotency_of(request, scope, lambda added: _reply(added).model_dump(mode="json"), identifier)


def _reply(added: AddedVersion) -> AddedVersionReply:
    return AddedVersionReply(version=VersionObject.of(added.version), collection=CollectionObject.of(added.collection))


def list_all(request: FrepoRequest) -> Answer:
    """List the versions, ascending."""
    versions = request.services.versions.list(request.collection.id)
    return Answer(
        body=VersionListReply(
            versions={
                str(version.number): ListedVersion(
                    details=VersionObject.of(version), url=_link(request, version, unlocked=False)
                )
                for version in versions
            }
        )
    )


def fetch(request: FrepoRequest) -> Answer | Response:
    """Redirect to the version's file, or return the link as JSON."""
    query = request.query_as(FetchQuery)
    version = request.services.versions.find(request.collection.id, request.matchdict["version"])
    password = query.password or request.password_in_header
    unlocked = request.services.versions.check_password(
        version, password, by=request.sender, address=request.client_address
    )
    url = _link(request, version, unlocked=unlocked)
    if query.redirect:
        return _redirect(url)
    return Answer(body=VersionLinkReply(url=url))


def remove(request: FrepoRequest) -> Answer:
    """Delete a version."""
    simulate = request.query_as(Simulate).simulate
    name = request.matchdict["version"]
    request.services.versions.delete(request.collection.id, name, by=request.sender, simulate=simulate)
    return Answer(body=DeletedVersionReply())


def _link(request: FrepoRequest, version: VersionRecord, *, unlocked: bool) -> str:
    return request.link(request.services.links.signed(version.file, unlocked=unlocked))


def _redirect(url: str) -> Any:
    response = Response(status=302, content_type="application/json", body=b"")
    response.headers.update({"Location": url, "Cache-Control": "private, no-store"})
    return response


def _both_paths(name: str, path: str, **more: Any) -> list[Endpoint]:
    """Declare an endpoint under both of its paths, `backup` and `version`."""
    prefix = "/repository/collection/{collection}"
    return [Endpoint(name=name.format(word), path=f"{prefix}/{word}{path}", **more) for word in ("backup", "version")]


ENDPOINTS = [
    *_both_paths(
        "add_{}",
        "",
        method="POST",
        view=add,
        summary="Add a version",
        permission="version.upload",
        content=True,
        before_body=before_add,
        writes=True,
        headers=(IDEMPOTENCY_KEY, IF_MATCH),
        answers={200: AddedVersionReply},
        envelope=VERSION_ENVELOPE,
    ),
    *_both_paths(
        "list_{}s",
        "",
        method="GET",
        view=list_all,
        summary="List versions",
        permission="version.list",
        answers={200: VersionListReply},
    ),
    *_both_paths(
        "fetch_{}",
        "/{version}",
        method="GET",
        view=fetch,
        summary="Fetch a version",
        permission="version.list",
        query=FetchQuery,
        answers={200: VersionLinkReply, 302: None},
        envelope=LINK_ENVELOPE,
    ),
    *_both_paths(
        "delete_{}",
        "/{version}",
        method="DELETE",
        view=remove,
        summary="Delete a version",
        permission="version.delete",
        query=Simulate,
        writes=True,
        answers={200: DeletedVersionReply},
    ),
]
