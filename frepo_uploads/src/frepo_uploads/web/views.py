"""The views of tus 1.0: they translate between HTTP and the use cases."""

from functools import cached_property, partial
from urllib.parse import quote

from frepo_core.plugins import AccessDeniedError, EndpointError, FrepoError, Identity, NotFoundError, PluginContext
from frepo_core.web import Answer, FrepoRequest, coding_of, next_cursor, page_of, version_path

from ..commits import Claims, Ready, wait
from ..outcomes import is_refusal
from ..receiving import NoPart, Part
from ..session import COMMITS, State, Upload
from ..sessions import Sessions
from .creation import CreatedPart
from .models import CommitForm, UploadPage, UploadQuery, UploadStatus, stored_of
from .tus_headers import MAX_SIZE, PartHead, answer_headers, check_version, format_metadata, parse_creation, parse_part

UPLOADS = "/api/v1/uploads"
COMMIT_SECONDS = 20.0
RETRY_SECONDS = 2


# Only an administrator may do this.
EVERYTHING = "token.revoke_administrator"
NO_UPLOAD = "There is no such upload: it never was, or it ended more than a day ago"


def identify(request: FrepoRequest, context: PluginContext, upload: Upload | None) -> Identity:
    """Return who sends the request. The token's expiry counts when the upload is made: it may take longer.

    Raises `AccessDeniedError` for a token that is not valid, such as a revoked one.
    """
    identity: Identity = context.service.identify(
        request.token_id,
        address=request.client_address,
        user_agent=request.user_agent or "",
        began_at=upload.created_at if upload else None,
        earlier=upload.creator if upload else None,
    )
    request.is_authenticated = True
    return identity


def is_administrator(identity: Identity, context: PluginContext) -> bool:
    """Return whether the token may see and end the uploads of all."""
    return context.service.permits(EVERYTHING, identity)


def require_owner(upload: Upload | None, identity: Identity, *, or_else: bool = False) -> Upload:
    """Return the upload if it belongs to the token, or another may have it, too. Others do not learn that it exists.

    Raises `NotFoundError`.
    """
    if upload is not None and (or_else or upload.owner == identity.client):
        return upload
    raise NotFoundError(NO_UPLOAD)


class Views:
    """The views of one service."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    @cached_property
    def _sessions(self) -> Sessions:
        return Sessions(self._context)  # hooks must not use the service

    def limit_creation(self, request: FrepoRequest) -> int:
        """Return how many bytes the body of a POST may have."""
        check_version(request.headers)
        head = parse_creation(request.headers, coding_of(request))
        largest = self._sessions.max_size(head, request.sender)
        if not head.has_part:
            return 0
        return (MAX_SIZE if largest is None else largest) if head.length is None else head.length

    def open_creation(self, request: FrepoRequest) -> CreatedPart:
        """Make an upload, and open its first part."""
        head = parse_creation(request.headers, coding_of(request))
        sessions, by, collection_id = self._sessions, request.sender, head.metadata.get("collection")
        upload = sessions.uploads.find_created(head.key, by.client, collection_id)
        with sessions.refusals.recorded(collection_id, by=by, size=head.length):
            upload = upload or sessions.create(head, by, request.announced if head.has_part else None)
        part = None
        if head.has_part:
            first = PartHead(offset=0, length=None, checksum=head.checksum)
            part = self._sessions.open_part(upload, first, partial(identify, request, self._context, upload))
        return CreatedPart(self._sessions, upload, part)

    def create(self, request: FrepoRequest) -> Answer:
        """Answer where the upload is. If it was complete at once, it is stored before."""
        created: CreatedPart = request.body_sink
        upload = created.upload
        if isinstance(created.part, Part) and upload.state in COMMITS:
            try:
                upload = self._commit(created.part)
            except FrepoError as error:
                if is_refusal(error):
                    raise
                upload = self._sessions.find(upload.id) or upload  # the client sends the rest again
        offset = upload.offset if created.part else None
        headers = {"Location": request.link(f"{UPLOADS}/{upload.id}"), **self._headers(request, upload, offset)}
        return Answer(status=201, headers=headers)

    def show_offset(self, request: FrepoRequest) -> Answer:
        """Answer how many bytes of an upload are here."""
        check_version(request.headers)
        upload, _ = self._own(request)
        self._sessions.require_here(upload)
        upload.require_known()
        headers = self._headers(request, upload, upload.offset)
        if upload.length is None:
            headers["Upload-Defer-Length"] = "1"
        else:
            headers["Upload-Length"] = str(upload.length)
        if upload.metadata:
            headers["Upload-Metadata"] = format_metadata(upload.metadata)
        return Answer(status=200, headers=headers)

    def limit_part(self, request: FrepoRequest) -> int:
        """Return how many bytes the body of a PATCH may have."""
        check_version(request.headers)
        head = parse_part(request.headers)
        upload, identity = self._own(request)
        _require_coding(request, upload)
        with self._sessions.refusals.recorded(upload.collection_id, by=identity, size=upload.length):
            return self._sessions.limit_part(upload, head, request.announced, identity)

    def open_part(self, request: FrepoRequest) -> Part | NoPart:
        """Open the body of a PATCH."""
        upload, identity = self._own(request)
        request.body_owner = identity.token
        return self._sessions.open_part(
            upload, parse_part(request.headers), partial(identify, request, self._context, upload)
        )

    def append(self, request: FrepoRequest) -> Answer:
        """Answer how many bytes of the upload are here. The part that completes it is answered when it is stored."""
        part: Part | NoPart = request.body_sink
        upload = part.upload
        if isinstance(part, Part) and upload.state in COMMITS:
            upload = self._commit(part)
        return Answer(status=204, headers=self._headers(request, upload, upload.offset))

    def end(self, request: FrepoRequest) -> Answer:
        """Abort an upload: by its client, or by an administrator."""
        check_version(request.headers)
        upload, identity = self._own(request, or_administrator=True)
        self._sessions.require_here(upload)
        upload.require_open()
        self._sessions.end(upload, by=identity)
        return Answer(status=204, headers=answer_headers())

    def show(self, request: FrepoRequest) -> Answer:
        """Say what became of an upload, and what was stored."""
        upload, identity = self._own(request, or_administrator=True)
        shows_sender = is_administrator(identity, self._context)
        return Answer(
            body=self._status(request, upload, shows_sender=shows_sender), headers={"Cache-Control": "no-store"}
        )

    def list_open(self, request: FrepoRequest) -> Answer:
        """List the open uploads of the token, or of all for an administrator."""
        sender, query = request.sender, request.query_as(UploadQuery)
        sees_all = is_administrator(sender, self._context)
        found = [
            each
            for each in self._sessions.uploads.all_open()
            if (sees_all or each.owner == sender.client) and query.collection in {"", each.collection_id}
        ]
        page = page_of(query, found, lambda each: (each.created_at.isoformat(), each.id))
        items = [self._status(request, each, shows_sender=sees_all) for each in page.items]
        return Answer(body=UploadPage(items=items, next=next_cursor(query, page)))

    def commit(self, request: FrepoRequest) -> Answer:
        """Store a complete upload. The same request again is answered the same."""
        upload, identity = self._own(request)
        form = request.body_as(CommitForm)
        claims = Claims(sha256=form.sha256, size=form.size, sent_size=form.sent_size, run=form.run())
        running = self._sessions.commits.running(upload.id)
        if running is None and upload.is_open and upload.state not in COMMITS:
            if claims.has_failed:
                upload = self._sessions.fail(upload, claims, identity)
            else:
                ready = self._sessions.ready(upload, claims)
                running = self._sessions.commits.start(ready, by=identity, claims=claims)
        if running is not None:
            upload = wait(running, COMMIT_SECONDS) or self._sessions.find(upload.id) or upload
        if upload.state in COMMITS:
            headers = {"Retry-After": str(RETRY_SECONDS)}
            return Answer(status=202, body=self._status(request, upload), headers=headers)
        if not upload.has_failed_run:
            upload.require_known()
        return Answer(body=self._status(request, upload), headers=self._location(request, upload))

    def _own(self, request: FrepoRequest, *, or_administrator: bool = False) -> tuple[Upload, Identity]:
        """Return the upload in the path, and who asks for it. Raises `AccessDeniedError` or `NotFoundError`."""
        found = self._sessions.find(request.matchdict["upload"])
        try:
            identity = identify(request, self._context, found)
        except AccessDeniedError:
            self._sessions.end_revoked([] if found is None else [found])
            raise
        others_too = or_administrator and is_administrator(identity, self._context)
        return require_owner(found, identity, or_else=others_too), identity

    def _commit(self, part: Part) -> Upload:
        ready = Ready(upload=part.upload, file=part.file)
        return self._sessions.commits.start(ready, by=part.by, claims=Claims()).result()

    def _headers(self, request: FrepoRequest, upload: Upload, offset: int | None) -> dict[str, str]:
        expires = self._sessions.expires_at(upload) if upload.is_open else None
        return {**answer_headers(offset=offset, expires=expires), **self._location(request, upload)}

    def _location(self, request: FrepoRequest, upload: Upload) -> dict[str, str]:
        outcome = upload.outcome or {}
        if "number" in outcome:
            return {"Content-Location": request.link(version_path(outcome["collection"], outcome["number"]))}
        return (
            {"Content-Location": request.link(f"/api/v1/files/{quote(outcome['file'])}")} if "file" in outcome else {}
        )

    def _status(self, request: FrepoRequest, upload: Upload, *, shows_sender: bool = False) -> UploadStatus:
        return UploadStatus.of(
            upload,
            expires_at=self._sessions.expires_at(upload),
            hashed=self._sessions.commits.hashed(upload.id) if upload.state is State.COMMITTING else None,
            shows_sender=shows_sender,
            **stored_of(request, upload),
        )


def _require_coding(request: FrepoRequest, upload: Upload) -> None:
    """Refuse a part in another coding than the upload. A part need not name it."""
    if "Content-Encoding" in request.headers and coding_of(request) != upload.coding:
        began = f"with Content-Encoding: {upload.coding}" if upload.coding else "without Content-Encoding"
        raise EndpointError(400, f"The upload was begun {began}, and its parts cannot have another one")
