"""The endpoints: store a file of the WAL under its name, and get it."""

import hashlib
from base64 import b64encode
from functools import partial
from typing import BinaryIO

from pyramid.response import Response

from frepo_core.plugins import EndpointError, FieldsError, PluginContext, SentContent, StoredVersion
from frepo_core.web import Answer, Endpoint, FrepoRequest, sent_content, version_content, version_path

from ..archive import LABEL, PARENT, SWITCH, SYSTEM, WAITING, WRITTEN, Archive, find_archive
from ..headers import SIZE, WrongContentError, check_segment, read_parent
from ..names import EXPECTED, PATTERN, WalName, parse_name
from ..status import read_status
from ..strategy import GUARDS
from .models import StatusReply, Stored

PATH = "/api/v1/collections/{collection}/wal"
# With this header, the answer 404 says that the archive has no such file: not that there is no archive, or no service.
MISSING = "X-Frepo-Wal"
WAITING_HEADER, WRITTEN_HEADER = "X-Frepo-Wal-Waiting", "X-Frepo-Wal-Written"
# The largest segment that PostgreSQL can have, and what may come with a content on the way, in bytes.
MAX_SIZE, _MORE = 1 << 30, 1 << 20
_PIECE = 1 << 20
_HISTORY_SIZE = 64 << 10
_DIGITS = 10


class Views:
    """The views."""

    def __init__(self, context: PluginContext) -> None:
        self._context = context

    def limit(self, request: FrepoRequest) -> int:
        """Refuse a wrong name before the body arrives; return the largest size of a body."""
        _name_of(request)
        return MAX_SIZE + _MORE

    def store(self, request: FrepoRequest) -> Answer:
        """Store a file, unless it is there."""
        text, name = _name_of(request)
        archive = find_archive(self._context, request.collection.id)
        with sent_content(request, MAX_SIZE) as content:
            labels = {LABEL: text, **_check_content(archive, name, content.file)}
            for label, header in ((WAITING, WAITING_HEADER), (WRITTEN, WRITTEN_HEADER)):
                if (value := request.headers.get(header, "")).isascii() and value.isdecimal() and len(value) <= _DIGITS:
                    labels[label] = value
            if found := archive.find(text):
                return _answer(archive, text, _same(found, content.file, text), is_new=False)
            return _answer(archive, text, self._add(request, archive, content, labels), is_new=True)

    def _add(
        self, request: FrepoRequest, archive: Archive, content: SentContent, labels: dict[str, str]
    ) -> StoredVersion:
        text = labels[LABEL]
        added = self._context.service.add_version(
            archive.collection.id, content, by=request.sender, guards=GUARDS, labels=labels
        )
        try:
            if SYSTEM in labels:
                archive.remember_system(labels[SYSTEM])
        except EndpointError as error:
            self._take_back(added, str(error))
            raise
        first = archive.find(text)  # of two requests with one name at once, the first wins
        if first is None or first.number >= added.number:
            return _accepted(added, text)
        self._take_back(added, f"{text} had arrived a moment before")
        if first.sha256 != added.sha256:
            raise _conflict(text)
        return _accepted(first, text)

    def _take_back(self, added: StoredVersion, reason: str) -> None:
        self._context.service.delete_versions(added.collection_id, [added.number], by=None, reason=reason, trash=False)

    def send(self, request: FrepoRequest) -> Response:
        """Answer with a file."""
        text, _ = _name_of(request)
        archive = find_archive(self._context, request.collection.id)
        found = archive.find(text)
        if found is None:
            raise EndpointError(404, f"The archive has no {text}", headers={MISSING: "missing"})
        return version_content(request, archive.collection.id, found.number)

    def show(self, request: FrepoRequest) -> Answer:
        """Answer what the archive has, and what it lacks."""
        archive = find_archive(self._context, request.collection.id)
        return Answer(body=StatusReply.model_validate(read_status(archive)))


def _name_of(request: FrepoRequest) -> tuple[str, WalName]:
    text = str(request.matchdict["name"])
    if (name := parse_name(text)) is None:
        raise FieldsError({"name": [f"Expected {EXPECTED}"]})
    return text, name


def _check_content(archive: Archive, name: WalName, file: BinaryIO) -> dict[str, str]:
    """Compare a content with its name, and leave it at its start; return the labels that it gives.

    Raises `EndpointError`.
    """
    size = file.seek(0, 2)
    file.seek(0)
    head = file.read(_HISTORY_SIZE)
    file.seek(0)
    if name.kind == "history":
        parent = read_parent(head)
        return {PARENT: str(parent[0]), SWITCH: str(parent[1])} if parent else {}
    if name.kind == "backup":
        return {}
    try:
        header = check_segment(name, head[:SIZE], size)
    except WrongContentError as error:
        raise EndpointError(422, f"{error}. It is not stored: look at what archive_command sends") from error
    if header is None:
        return {}
    archive.check_system(str(header.system))
    return {SYSTEM: str(header.system)}


def _same(found: StoredVersion, file: BinaryIO, text: str) -> StoredVersion:
    digest = hashlib.sha256()
    while piece := file.read(_PIECE):
        digest.update(piece)
    if digest.hexdigest() != found.sha256:
        raise _conflict(text)
    return _accepted(found, text)


def _accepted(version: StoredVersion, text: str) -> StoredVersion:
    """Return a version that stays. One in quarantine may leave, and PostgreSQL must keep its file until then."""
    if version.quarantined:
        why = version.quarantine_reason or version.verdict_reason
        raise EndpointError(409, f"{text} is in quarantine: {why}. Release it, then PostgreSQL goes on")
    return version


def _conflict(text: str) -> EndpointError:
    return EndpointError(
        409,
        f"The archive has {text} with other content. Two servers archive here, or one was restored and not promoted",
    )


def _answer(archive: Archive, text: str, version: StoredVersion, *, is_new: bool) -> Answer:
    body = Stored(name=text, version=version.number, size=version.size, sha256=version.sha256)
    headers = {
        "Location": version_path(archive.collection.id, version.number),
        "Repr-Digest": f"sha-256=:{b64encode(bytes.fromhex(version.sha256)).decode()}:",
    }
    return Answer(body=body, status=201 if is_new else 200, headers=headers)


def make_endpoints(context: PluginContext) -> list[Endpoint]:
    """Return the endpoints."""
    views = Views(context)
    of_file = partial(Endpoint, path=f"{PATH}/{{name}}", parameters={"name": ("The name of the file, %f.", PATTERN)})
    return [
        of_file(
            name="store_wal",
            method="PUT",
            view=views.store,
            summary="Store a segment of the WAL, or a file next to it, under its name",
            permission="version.upload",
            content=True,
            before_body=views.limit,
            writes=True,
            headers=(WAITING_HEADER, WRITTEN_HEADER),
            answers={200: Stored, 201: Stored, 409: None, 422: None},
        ),
        of_file(
            name="fetch_wal",
            method="GET",
            view=views.send,
            summary="Get a segment of the WAL, or a file next to it, by its name",
            permission="version.list",
            answer_headers=(MISSING,),
            answers={200: None, 404: None, 409: None},
        ),
        Endpoint(
            name="show_wal",
            method="GET",
            path=PATH,
            view=views.show,
            summary="Show what an archive of WAL has, what it lacks, and from when until when it can be restored",
            permission="version.list",
            answers={200: StatusReply, 409: None},
        ),
    ]
