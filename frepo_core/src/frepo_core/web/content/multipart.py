"""Reads the file and the fields of a multipart/form-data body (RFC 7578)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import BinaryIO

from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from frepo_core.domain.structs import struct
from frepo_core.errors import MalformedRequestError

CHUNK = 1 << 18
FIELD_BYTES = 64 << 10
HEADER_BYTES = 48 << 10  # more than the parser takes for the headers of one part
FIRST_PEEK = 512  # usual headers are shorter
MAX_FIELDS = 200
MAX_SHOWN = 100  # characters of a name in a message


@dataclass(kw_only=True)
class _Part:
    name: str
    filename: str | None
    start: int
    length: int = 0
    text: bytes = b""


@struct
class MultipartForm:
    """The length of the file in bytes, its file name, and the other fields in order."""

    length: int
    filename: str | None
    fields: list[tuple[str, str]] = field(default_factory=list)


def is_multipart(content_type: str) -> bool:
    """Return whether a Content-Type is multipart/form-data, in any case (RFC 9110, 8.3.1)."""
    return str(parse_options_header(content_type)[0]).strip().lower() == "multipart/form-data"


def read_multipart(body: BinaryIO, content_type: str, write: Callable[[bytes], object]) -> MultipartForm:
    """Read the body once, and pass the bytes of its file to `write`.

    The file is the part named `file`, or else the part with a file name. Inputs of a page in which no file was chosen
    do not count: they have an empty name and no content.
    Raises `MalformedRequestError` if the body is invalid, or has no file or several.
    """
    boundary = _boundary_of(content_type)
    if not boundary:
        raise MalformedRequestError("The Content-Type multipart/form-data names no boundary")
    try:
        return _describe(_read_parts(body, boundary, write))
    except MultipartError as error:
        raise MalformedRequestError(f"The multipart body is broken: {error}") from None
    except UnicodeDecodeError:
        raise MalformedRequestError("A field of the multipart body is not UTF-8") from None


def _boundary_of(content_type: str) -> str:
    """Return the boundary between the parts (RFC 2046, 5.1.1), empty if the Content-Type has none."""
    return str(parse_options_header(content_type)[1].get("boundary", ""))


def _describe(parts: list[_Part]) -> MultipartForm:
    fields = [(part.name, part.text.decode()) for part in parts if not _is_file(part)]
    files = [part for part in parts if _is_file(part)]
    if not files:
        raise MalformedRequestError("The multipart body has no file: send it as the part 'file'")
    # At most one of them has content.
    chosen = max(files, key=lambda part: (_is_chosen(part), part.name == "file"))
    return MultipartForm(
        length=chosen.length,
        filename=chosen.filename,
        fields=fields,
    )


def _check_single(parts: list[_Part]) -> None:
    chosen = [part for part in parts if _is_file(part) and _is_chosen(part)]
    if len(chosen) > 1:
        one, other = ((part.filename or part.name)[:MAX_SHOWN] for part in chosen[:2])
        raise MalformedRequestError(f"The form has two files, {one!r} and {other!r}: send one for each request")


def _parser(boundary: str) -> PushMultipartParser:
    return PushMultipartParser(boundary, max_segment_size=2**63, strict=True)


def _read_parts(body: BinaryIO, boundary: str, write: Callable[[bytes], object]) -> list[_Part]:
    parts: list[_Part] = []
    end, is_complete = body.tell(), False
    with _parser(boundary) as parser:
        delimiter = b"--" + parser.boundary
        # The epilogue is not read: the parser refuses it if it is in a chunk of its own.
        while not (is_complete or parser.closed):
            for event in parser.parse(body.read(CHUNK)):
                if isinstance(event, MultipartSegment):
                    max_length = HEADER_BYTES if parts else CHUNK + HEADER_BYTES
                    _start_part(parts, event, _find_content(body, end, delimiter, max_length))
                elif event:
                    _append(parts[-1], event)
                    if _is_file(parts[-1]):
                        _check_single(parts)
                        write(event)
                else:
                    end = parts[-1].start + parts[-1].length
                    is_complete = _peek(body, end, len(delimiter) + 4).endswith(delimiter + b"--")
    return parts


def _start_part(parts: list[_Part], segment: MultipartSegment, start: int) -> None:
    if len(parts) >= MAX_FIELDS:
        raise MalformedRequestError(f"The form has more than {MAX_FIELDS} fields")
    parts.append(_Part(name=segment.name, filename=segment.filename, start=start))
    _check_single(parts)


def _find_content(body: BinaryIO, end: int, delimiter: bytes, max_length: int) -> int:
    """Return the position of the next part's content: after a delimiter, headers and an empty line.

    Between `end` and the delimiter is a line break or, before the first part, a preamble, which the parser accepts in
    the first chunk only.
    """
    length = FIRST_PEEK
    while True:
        head = _peek(body, end, length)
        start = head.find(delimiter)
        if start >= 0 and (stop := head.find(b"\r\n\r\n", start + len(delimiter) + 2)) >= 0:
            return end + stop + 4
        if length >= max_length:
            raise MalformedRequestError("The headers of a part of the multipart body are too long")
        length *= 2


def _peek(body: BinaryIO, start: int, length: int) -> bytes:
    here = body.tell()
    body.seek(start)
    data = body.read(length)
    body.seek(here)
    return data


def _append(part: _Part, data: bytes | bytearray) -> None:
    part.length += len(data)
    if _is_file(part):
        return
    if part.length > FIELD_BYTES:
        raise MalformedRequestError(f"The field {part.name!r} is longer than {FIELD_BYTES} bytes")
    part.text += data


def _is_chosen(part: _Part) -> bool:
    """Return whether a part is a file, not the input of a page without a chosen file."""
    return bool(part.length or part.filename or part.filename is None)


def _is_file(part: _Part) -> bool:
    return part.filename is not None or part.name == "file"
