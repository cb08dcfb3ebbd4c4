"""The endpoints of the versions of a collection: upload, list, show, delete, content, link and checks."""

from collections.abc import Sequence
from dataclasses import replace

from pyramid.response import Response

from frepo_core.services.backups.versions.add_version import AddedVersion
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.services.base.records import VersionRecord

from ...base.endpoint import Answer, Endpoint
from ...base.request import FrepoRequest
from ...content.request_headers import CONTENT_ENCODING, IDEMPOTENCY_KEY, IF_MATCH, idempotency_of, last_version_of
from ...content.version_upload import before_add_with, store_version
from ...conventions.answers import created, delete_endpoint, edit_endpoint, no_content, resource, show_endpoint
from ...conventions.entity_tags import if_match
from ...conventions.paging import next_cursor, page_request
from ..content import recordable, seconds_of, send_file, uploaded, uploaded_before
from .collections import COLLECTION, COLLECTIONS
from .version_models import (
    Check,
    Checks,
    Link,
    LinkRequest,
    NewCheckResult,
    SameContent,
    ShownVersion,
    Version,
    VersionPage,
    VersionPatch,
    VersionQuery,
    version_tag,
)

VERSIONS = f"{COLLECTION}/versions"
VERSION = f"{VERSIONS}/{{selector}}"


def list_versions(request: FrepoRequest) -> Answer:
    """List the versions of a collection, the newest first."""
    query = request.query_as(VersionQuery)
    page = request.services.versions.page(
        request.collection.id,
        page_request(query),
        verdicts=query.verdict,
        reasons=query.reason,
        only_damaged=query.damaged,
        label=_label_of(query.label) if query.label else None,
    )
    return Answer(body=VersionPage(items=_shown(request, page.items), next=next_cursor(query, page)))


def _label_of(text: str) -> tuple[str, str]:
    name, _, value = text.partition(":")
    return name, value


def _shown(request: FrepoRequest, records: Sequence[VersionRecord]) -> list[Version]:
    """Return versions with the names of the tokens that have released them, as far as the token may see those."""
    names = request.services.token_inventory.names(
        [record.released_by for record in records if record.released_by], by=request.sender
    )
    counts = request.services.copies.count([record.file.blob for record in records])
    return [Version.of(record, names, counts) for record in records]


def add(request: FrepoRequest) -> Answer:
    """Add a version. The body is the content itself, or a form with the content as its part `file`."""
    added = store_version(request, last_version_of(request), _idempotency_of(request))
    if isinstance(added, RecordedAnswer):
        return uploaded_before(request, added)
    version = added.version
    return answer_added(request, version)


def before_add(request: FrepoRequest) -> int | None:
    """Decide about a version before its content arrives."""
    return before_add_with(request, _idempotency_of(request))


def _idempotency_of(request: FrepoRequest) -> IdempotentUpload[AddedVersion] | None:
    def serialize(added: AddedVersion) -> dict[str, object]:
        return recordable(_path(added.version), Version.of(added.version), added.version.file.id)

    # With its time: a collection may be deleted, and its id chosen again.
    scope = f"v1 {request.collection.id} {request.collection.created_at.isoformat()}"
    return idempotency_of(request, scope, serialize)


def answer_added(request: FrepoRequest, version: VersionRecord) -> Answer:
    """Answer 201 with a version that was added."""
    return uploaded(request, _path(version), Version.of(version), version.file.blob.digest)


def _path(version: VersionRecord) -> str:
    return f"{COLLECTIONS}/{version.collection_id}/versions/v{version.number}"


def _selected(request: FrepoRequest) -> VersionRecord:
    return request.services.versions.find_selected(request.collection.id, request.matchdict["selector"])


def show(request: FrepoRequest) -> Answer:
    """Show a version, and which other collections got the same content."""
    record = _selected(request)
    found = request.services.same_contents.find(record, by=request.sender)
    same = [SameContent.model_validate(one, from_attributes=True) for one in found]
    shown = ShownVersion(**dict(_shown(request, [record])[0]), same_content_in=same)
    return resource(shown, version_tag(record))


def edit(request: FrepoRequest) -> Answer:
    """Pin or unpin a version, write its note, or release it from quarantine. Missing fields keep their values."""
    record = request.services.version_edits.edit(
        request.collection.id,
        _selected(request).id,
        request.body_as(VersionPatch).change(),
        by=request.sender,
        precondition=if_match(request, version_tag),
    )
    return _answer(request, record)


def _answer(request: FrepoRequest, record: VersionRecord) -> Answer:
    return resource(_shown(request, [record])[0], version_tag(record))


def remove(request: FrepoRequest) -> Response:
    """Delete a version. It is refused while the version is pinned, or younger than the minimal retention."""
    request.services.versions.delete(
        request.collection.id,
        _selected(request).id,
        by=request.sender,
        precondition=if_match(request, version_tag),
    )
    return no_content()


def send_content(request: FrepoRequest) -> Response:
    """Send the content of a version, whole or in ranges, without a redirect."""
    return send_file(request, _selected(request).file.stored_name)


def make_link(request: FrepoRequest) -> Answer:
    """Make a link to the content of a version that works without a token."""
    length, version = request.body_as(LinkRequest).expires_in, _selected(request)
    unlocked = request.services.versions.check_password(
        version, request.password_in_header, by=request.sender, address=request.client_address
    )
    path, end = request.services.links.signed_for(version.file, seconds_of(length), unlocked=unlocked)
    return Answer(body=Link(url=request.link(path), expires_at=end))


def list_checks(request: FrepoRequest) -> Answer:
    """List the results of the checks of a version: those of plug-ins, and those of clients."""
    found = request.services.version_checks.of_collection(request.collection.id, _selected(request).number)
    return Answer(body=Checks(items=[Check.of(one) for one in found]))


def add_check(request: FrepoRequest) -> Answer:
    """Record the result of a check that a client has made, such as a restore test."""
    form, version = request.body_as(NewCheckResult), _selected(request)
    check = NewCheck(name=form.name, outcome=form.outcome, message=form.message, details=form.details)
    body = Check.of(request.services.client_checks.record(version.id, check, by=request.sender))
    return created(request, f"{_path(version)}/checks", body)


_ADD = Endpoint(
    name="add_version",
    method="POST",
    path=VERSIONS,
    view=add,
    summary="Add a version",
    permission="version.upload",
    content=True,
    before_body=before_add,
    writes=True,
    headers=(IDEMPOTENCY_KEY, IF_MATCH, CONTENT_ENCODING),
    answers={201: Version},
)

ENDPOINTS = [
    Endpoint(
        name="list_versions",
        method="GET",
        path=VERSIONS,
        view=list_versions,
        summary="List versions",
        permission="version.list",
        query=VersionQuery,
        answers={200: VersionPage},
    ),
    _ADD,
    replace(_ADD, name="put_version", method="PUT", summary="Add a version, the same as POST: curl -T"),
    show_endpoint(
        name="show_version",
        path=VERSION,
        view=show,
        summary="Show a version",
        permission="version.list",
        answers={200: ShownVersion},
    ),
    edit_endpoint(
        name="edit_version",
        path=VERSION,
        view=edit,
        summary="Pin a version, or release it from quarantine",
        permission="version.edit",
        body=VersionPatch,
        answers={200: Version},
    ),
    delete_endpoint(
        name="delete_version",
        path=VERSION,
        view=remove,
        summary="Delete a version",
        permission="version.delete",
    ),
    Endpoint(
        name="download_version",
        method="GET",
        path=f"{VERSION}/content",
        view=send_content,
        summary="Download a version",
        permission="version.list",
        answers={200: None, 206: None, 304: None},
    ),
    Endpoint(
        name="link_version",
        method="POST",
        path=f"{VERSION}/link",
        view=make_link,
        summary="Make a link to a version",
        permission="version.list",
        body=LinkRequest,
        answers={200: Link},
    ),
    Endpoint(
        name="list_checks",
        method="GET",
        path=f"{VERSION}/checks",
        view=list_checks,
        summary="List the checks of a version",
        permission="version.list",
        answers={200: Checks},
    ),
    Endpoint(
        name="add_check",
        method="POST",
        path=f"{VERSION}/checks",
        view=add_check,
        summary="Record a check of a version",
        permission="version.upload",
        body=NewCheckResult,
        writes=True,
        answers={201: Check},
    ),
]
