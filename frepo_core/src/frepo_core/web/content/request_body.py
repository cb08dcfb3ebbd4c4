"""Reads the content of an upload, raw or multipart, if possible without a copy."""

import contextlib
import hashlib
import io
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import BinaryIO, cast

from frepo_core.domain.signatures import parse_content_md5, parse_repr_digest
from frepo_core.domain.structs import struct
from frepo_core.errors import BodyEndedError, DigestMismatchError, EndpointError, FieldsError, MalformedRequestError
from frepo_core.plugins import SentContent
from frepo_core.services.content.decoder_memory import DecoderWait
from frepo_core.services.content.decoding.content_codings import CODINGS, CodingError, WindowError, check_start, decoded
from frepo_core.services.content.ingest import CHUNK, Incoming, Limit, disk_full_translated, smallest_limit
from frepo_core.services.content.spool import IN_MEMORY, Spool

from ..base.request import FrepoRequest
from .multipart import MultipartForm, is_multipart, read_multipart
from .request_headers import CONTENT_ENCODING

ENVELOPE_BYTES = 1 << 20
# How long a request waits for memory to decode its body, in seconds, and how many wait.
DECODER_SECONDS, DECODER_WAITS = 60.0, 16


@struct
class Upload:
    """The content, the other fields of a form, and the file name of the part."""

    incoming: Incoming
    fields: list[tuple[str, str]] = field(default_factory=list)
    part_name: str | None = None


@contextlib.contextmanager
def read_upload(
    request: FrepoRequest, refuse_early: Callable[[], bool] | None = None, *, limits: tuple[Limit, ...] = ()
) -> Iterator[Upload]:
    """Yield the content of the request. Every body that is not multipart/form-data is raw content.

    The file of a form is copied, and what a coded body contains, which `limits` bound. The trash gives way to the copy,
    too, unless `refuse_early` refuses the version.
    """
    check_content_headers(request)
    sha256, md5 = _digests(request)
    content_type = request.headers.get("Content-Type", "")
    if coding := coding_of(request):
        with contextlib.ExitStack() as stack:
            yield Upload(incoming=_decode(request, coding, stack, refuse_early, limits))
        return
    if not is_multipart(content_type):
        incoming = Incoming(stream=_body(request), declared_size=request.content_length, sha256=sha256, md5=md5)
        yield Upload(incoming=incoming)
        return
    with contextlib.ExitStack() as stack:
        body = _seekable_body(request, stack)
        form, stream = _read_form(request, body, content_type, stack, refuse_early)
        incoming = Incoming(stream=stream, declared_size=form.length, sha256=sha256, md5=md5)
        yield Upload(incoming=incoming, fields=form.fields, part_name=form.filename)


@contextlib.contextmanager
def sent_content(request: FrepoRequest, largest: int) -> Iterator[SentContent]:
    """Yield the content of a request, without its coding or its form, as long as the block runs.

    For a view whose endpoint has `content`. `largest` is in bytes; more raises `EndpointError` with 413. Also raises
    `FieldsError`, and `EndpointError` with 415 for a coding that needs more memory than an upload may take.
    """
    limit = Limit(size=largest, refuse=lambda: EndpointError(413, f"The content is larger than {largest} bytes"))
    with read_upload(request, limits=(limit,)) as upload, contextlib.ExitStack() as stack:
        incoming = upload.incoming
        limit.enforce(incoming.declared_size or 0)
        is_seekable = getattr(incoming.stream, "seekable", bool)()
        file = incoming.stream if is_seekable else _seekable_body(request, stack)
        yield SentContent(file=file, size=incoming.declared_size, sha256=incoming.sha256, md5=incoming.md5)


def check_content_headers(request: FrepoRequest) -> None:
    """Check the headers of an upload. Raises `MalformedRequestError` and `FieldsError`."""
    if "Content-Range" in request.headers:  # RFC 9110, 14.5
        raise MalformedRequestError("A part of a content (Content-Range) cannot be added to another, send all of it")
    coding_of(request)
    _digests(request)


def coding_of(request: FrepoRequest) -> str | None:
    """Return the coding in Content-Encoding that is undone, None for no coding. The first API stores what is sent.

    Raises `FieldsError` for one that is unknown, or of a form.
    """
    sent = str(request.headers.get(CONTENT_ENCODING, "")).strip().lower()
    if not request.is_v1 or sent in {"", "identity"}:
        return None
    if sent not in CODINGS:
        raise FieldsError({CONTENT_ENCODING: [f"Expected one of {', '.join(CODINGS)}, not {sent!r}"]})
    if is_multipart(request.headers.get("Content-Type", "")):
        raise FieldsError({CONTENT_ENCODING: ["A form is sent without it; send the content as the body itself"]})
    return sent


def check_coded_start(start: bytes, coding: str) -> bool:
    """Return whether the first bytes of a content in this coding say how much memory it needs.

    For a plug-in that receives contents by itself. Raises `EndpointError` with 415 if that is more than an upload may
    take. Of Zstandard, at most 18 bytes are needed.
    """
    try:
        return check_start(start, coding)
    except WindowError as error:
        raise _unsupported(error) from None


def _unsupported(error: WindowError) -> EndpointError:
    return EndpointError(415, f"The body {error}", headers={"Accept-Encoding": ", ".join(CODINGS)})  # RFC 9110, 15.5.16


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

    The limits apply to the content. A form, base64 (`is_encoded`) or a coded body may have twice its size and 1 MiB in
    addition.
    """
    is_coded = coding_of(request) is not None
    is_wrapped = is_encoded or is_coded or is_multipart(request.headers.get("Content-Type", ""))
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
    write = _writer(request, spool, body, refuse_early)
    with disk_full_translated():
        form = read_multipart(body, content_type, write)
    return form, cast(BinaryIO, spool.getfile())


def _decode(
    request: FrepoRequest,
    coding: str,
    stack: contextlib.ExitStack,
    refuse_early: Callable[[], bool] | None,
    limits: tuple[Limit, ...],
) -> Incoming:
    """Undo the coding of the body, as long as its client is there.

    `Content-Digest` and `Content-MD5` are of the bytes that were sent, `Repr-Digest` of what they contain. Raises
    `FieldsError`, `DigestMismatchError`, `ReadersBusyError`, `EndpointError`, or the error of an exceeded limit.
    """
    body, sent = _seekable_body(request, stack), _SentDigests(request)
    spool = stack.enter_context(request.services.ingest.spool())
    write = _writer(request, spool, body, refuse_early)
    try:
        with disk_full_translated():
            for piece in _decoded_pieces(request, sent.passing(iter(lambda: body.read(CHUNK), b"")), coding):
                for limit in limits:
                    limit.enforce(len(spool) + len(piece))
                write(piece)
    except WindowError as error:
        raise _unsupported(error) from None
    except CodingError as error:
        raise FieldsError({CONTENT_ENCODING: [f"The body {error}"]}) from None
    sent.compare()
    return Incoming(stream=cast(BinaryIO, spool.getfile()), sha256=_digest_in(request, "Repr-Digest"))


def _decoded_pieces(request: FrepoRequest, sent: Iterator[bytes], coding: str) -> Iterator[bytes]:
    """Yield what the pieces contain, until the client is gone. Raises `BodyEndedError` then."""

    def wanted(pieces: Iterator[bytes]) -> Iterator[bytes]:
        for piece in pieces:
            if not request.is_wanted():
                raise BodyEndedError(request.content_length or 0)
            yield piece

    wait = DecoderWait(
        seconds=DECODER_SECONDS, most=DECODER_WAITS, begin=request.lend_thread, is_wanted=request.is_wanted
    )
    return wanted(decoded(wanted(sent), coding, request.services.ingest.decoder_memory, wait))


class _SentDigests:
    """Compares the bytes of a coded body, as they were sent, with the digests that the client says."""

    def __init__(self, request: FrepoRequest) -> None:
        self._md5 = _content_md5(request)
        self._sha256 = _digest_in(request, "Content-Digest")
        self._hashes = {hashlib.sha256(): value for value in self._sha256}
        if self._md5:
            self._hashes[hashlib.md5(usedforsecurity=False)] = self._md5

    def passing(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        """Yield the pieces, and hash them."""
        for piece in pieces:
            for each in self._hashes:
                each.update(piece)
            yield piece

    def compare(self) -> None:
        """Raise `DigestMismatchError` if one of them is another."""
        if any(each.hexdigest() != value.lower() for each, value in self._hashes.items()):
            raise DigestMismatchError("The body does not match the digest of the sent bytes that came with it")


def _writer(
    request: FrepoRequest, spool: Spool, body: BinaryIO, refuse_early: Callable[[], bool] | None
) -> Callable[[bytes], None]:
    """Return what appends to the copy of what a body contains."""
    if refuse_early is None or request.buffer is None:
        return spool.append
    return _in_steps(request, spool, body, refuse_early)


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
    return _digest_in(request, "Repr-Digest") + _digest_in(request, "Content-Digest"), _content_md5(request)


def _digest_in(request: FrepoRequest, header: str) -> tuple[str, ...]:
    value = request.headers.get(header)
    if not value:
        return ()
    with _invalid_header(header):
        return tuple(filter(None, [parse_repr_digest(value)]))


def _content_md5(request: FrepoRequest) -> str | None:
    value = request.headers.get("Content-MD5")
    if not value:
        return None
    with _invalid_header("Content-MD5"):
        return parse_content_md5(value)


@contextlib.contextmanager
def _invalid_header(header: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise FieldsError({header: [f"The header cannot be read: {error}"]}) from None
