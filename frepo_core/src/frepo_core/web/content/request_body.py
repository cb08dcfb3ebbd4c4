"""Reads the content of an upload, raw or multipart, if possible without a copy."""

import contextlib
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from frepo_core.domain.signatures import parse_content_md5, parse_repr_digest
from frepo_core.errors import FieldsError, MalformedRequestError
from frepo_core.services.content.ingest import Incoming, Limit, disk_full_translated, smallest_limit
from frepo_core.services.content.spool import IN_MEMORY, Spool

from ..base.request import FrepoRequest
from .multipart import MultipartForm, is_multipart, read_multipart

ENVELOPE_BYTES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Upload:
    """The content, the other fields of a form, and the file name of the part."""

    incoming: Incoming
    fields: list[tuple[str, str]] = field(default_factory=list)
    part_name: str | None = None


@contextlib.contextmanager
def read_upload(request: FrepoRequest, refuse_early: Callable[[], bool] | None = None) -> Iterator[Upload]:
    """Yield the content of the request. Every body that is not multipart/form-data is raw content.

    The file of a form is copied. The trash gives way to the copy, too, unless `refuse_early` refuses
    the version.
    """
    check_content_headers(request)
    sha256, md5 = _digests(request)
    content_type = request.headers.get("Content-Type", "")
    if not is_multipart(content_type):
        incoming = Incoming(stream=_body(request), declared_size=request.content_length, sha256=sha256, md5=md5)
        yield Upload(incoming=incoming)
        return
    with contextlib.ExitStack() as stack:
        body = _seekable_body(request, stack)
        form, stream = _read_form(request, body, content_type, stack, refuse_early)
        incoming = Incoming(stream=stream, declared_size=form.length, sha256=sha256, md5=md5)
        yield Upload(incoming=incoming, fields=form.fields, part_name=form.filename)


def check_content_headers(request: FrepoRequest) -> None:
    """Check the headers of an upload. Raises `MalformedRequestError` and `FieldsError`."""
    if "Content-Range" in request.headers:  # RFC 9110, 14.5
        raise MalformedRequestError("A part of a content (Content-Range) cannot be added to another, send all of it")
    _digests(request)


def limit_body(
    request: FrepoRequest,
    limits: tuple[Limit, ...],
    *,
    is_encoded: bool = False,
    refuse_early: Callable[[], bool] | None = None,
) -> int | None:
    """Return the maximum size of a body in bytes, None for no maximum. Raises the limit's error if it is exceeded.

    On the disk of the storage, `request.next_step` is set to the size up to which the body may arrive before it is
    asked about again. The trash gives way to a version unless `refuse_early` refuses it.

    The limits apply to the content. A form or base64 (`is_encoded`) may have twice its size and 1 MiB in addition.
    """
    is_wrapped = is_encoded or is_multipart(request.headers.get("Content-Type", ""))
    for limit in limits:
        length = request.content_length or 0
        limit.enforce((length - ENVELOPE_BYTES) // 2 if is_wrapped else length)
    if refuse_early is not None and (buffer := request.buffer) is not None:
        request.next_step = _next_step(request, buffer, request.announced or 0, request.arrived, refuse_early)
    size = smallest_limit(limits)
    return size if size is None or not is_wrapped else 2 * size + ENVELOPE_BYTES + 1


def _body(request: FrepoRequest) -> BinaryIO:
    """Return the server's file if it is seekable, else a stream that ends with the body."""
    raw = request.environ["wsgi.input"]
    if getattr(raw, "seekable", bool)():
        return cast(BinaryIO, raw)
    return cast(BinaryIO, request.body_file)


def _seekable_body(request: FrepoRequest, stack: contextlib.ExitStack) -> BinaryIO:
    body = _body(request)
    if getattr(body, "seekable", bool)():
        return body
    spool = stack.enter_context(request.services.ingest.temporary_file())
    while chunk := body.read(1 << 20):
        spool.write(chunk)
    spool.seek(0)
    return spool


def _read_form(
    request: FrepoRequest,
    body: BinaryIO,
    content_type: str,
    stack: contextlib.ExitStack,
    refuse_early: Callable[[], bool] | None,
) -> tuple[MultipartForm, BinaryIO]:
    """Read the form. Its file is copied to a spool that hashes it."""
    spool = stack.enter_context(request.services.ingest.spool())
    write = (
        spool.append
        if refuse_early is None or request.buffer is None
        else _in_steps(request, spool, body, refuse_early)
    )
    with disk_full_translated():
        form = read_multipart(body, content_type, write)
    return form, cast(BinaryIO, spool.getfile())


def _in_steps(
    request: FrepoRequest, spool: Spool, body: BinaryIO, refuse_early: Callable[[], bool]
) -> Callable[[bytes], None]:
    """Return a function that appends to the spool and first asks for room, as if more of the body arrived."""
    size = body.seek(0, io.SEEK_END)
    body.seek(0)
    allowed: int | None = size + IN_MEMORY

    def write(data: bytes) -> None:
        nonlocal allowed
        copied = size + len(spool)
        if allowed is not None and copied + len(data) > allowed:
            allowed = _next_step(request, spool, 2 * size, copied, refuse_early)
        spool.append(data)

    return write


def _next_step(
    request: FrepoRequest, body: Spool, announced: int, arrived: int, refuse_early: Callable[[], bool]
) -> int | None:
    room = request.version_room
    assert room is not None  # the server shows its buffer
    return request.services.arrivals.next_version_step(body, announced, arrived, room=room, refuse_early=refuse_early)


def _digests(request: FrepoRequest) -> tuple[tuple[str, ...], str | None]:
    """Return the SHA-256 and MD5 in Repr-Digest, Content-Digest (RFC 9530) and Content-MD5 (RFC 1864)."""
    sha256: list[str] = []
    for header in ("Repr-Digest", "Content-Digest"):
        if value := request.headers.get(header):
            with _invalid_header(header):
                sha256 += filter(None, [parse_repr_digest(value)])
    md5 = None
    if value := request.headers.get("Content-MD5"):
        with _invalid_header("Content-MD5"):
            md5 = parse_content_md5(value)
    return tuple(sha256), md5


@contextlib.contextmanager
def _invalid_header(header: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise FieldsError({header: [f"The header cannot be read: {error}"]}) from None
