"""Answers GET and HEAD of a file with conditions and ranges (RFC 9110, 13 and 14)."""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from email.utils import format_datetime
from typing import BinaryIO, cast

from pyramid.httpexceptions import HTTPPreconditionFailed, HTTPRequestRangeNotSatisfiable
from pyramid.response import Response
from webob.datetime_utils import parse_date

from frepo_core.domain.byte_ranges import parse_range
from frepo_core.errors import BytesMissingError
from frepo_core.services.content.wrapped_content import WrappedContent

from ..base.request import FrepoRequest
from .if_none_match import IF_NONE_MATCH, is_known

BLOCK = 1 << 19
# Parts up to this size are read at once, which is faster than a hand-over to the thread that sends.
SMALL = 64 << 10

# The headers, by their WSGI names, that can change the answer. Most requests have none of them.
CONDITIONS = frozenset(
    {"HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH", "HTTP_IF_MODIFIED_SINCE", "HTTP_IF_UNMODIFIED_SINCE", "HTTP_RANGE"}
)

# Ranges that nginx answers like the service. It treats others differently.
PLAIN_RANGE = re.compile(r"bytes=(?:[0-9]{1,18}-[0-9]{0,18}|-[0-9]{1,18})")

Read = Callable[[int, int], bytes]
Open = Callable[[int, int], BinaryIO]


PIECE = 64 << 10


def begun(content: BinaryIO) -> BinaryIO:
    """Return the content at the same position, after its first bytes were read. Closes it and raises if that fails."""
    try:
        if getattr(content, "seekable", lambda: False)():  # a local file, which the server sends by itself
            position = content.tell()
            content.read(1)
            content.seek(position)
            return content
        return cast(BinaryIO, _Begun(content.read(PIECE), content))
    except BaseException:
        content.close()
        raise


class _Begun(WrappedContent):
    """A stream whose first piece was read already."""

    def __init__(self, first: bytes, content: BinaryIO) -> None:
        super().__init__(content)
        self._first = first

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes."""
        if not self._first:
            return self._content.read(size)
        if size < 0:
            self._first += self._content.read()
            size = len(self._first)
        data, self._first = self._first[:size], self._first[size:]
        return data


class ContentResponse:
    """Builds the answer for one content of `size` bytes.

    `read_part(start, length)` returns a small part, `open_part` opens a larger one. `etag` and `modified` (UTC) are the
    validators. `headers` are sent with every answer, also 304. `location` is nginx's internal path of the content, if
    nginx sends it (X-Accel-Redirect).
    """

    def __init__(
        self,
        request: FrepoRequest,
        *,
        size: int,
        content_type: str,
        etag: str,
        modified: datetime,
        headers: Mapping[str, str],
        read_part: Read,
        open_part: Open,
        location: str | None = None,
    ) -> None:
        self._request = request
        self._size = size
        self._etag = etag
        self._modified = modified.replace(microsecond=0)
        self._read = read_part
        self._open = open_part
        self._location = location
        self._headers = {
            "Accept-Ranges": "bytes",
            "Content-Type": content_type,
            "ETag": f'"{etag}"',
            "Last-Modified": format_datetime(modified, usegmt=True),
            **headers,
        }

    def build(self) -> Response:
        """Return the response. The checks have the order of RFC 9110, 13.2.2. Raises the errors 412 and 416."""
        has_conditions = not CONDITIONS.isdisjoint(self._request.environ)
        if has_conditions and self._precondition_fails():
            raise HTTPPreconditionFailed
        if has_conditions and self._is_fresh():
            del self._headers["Content-Type"]
            return self._response(304, ())
        part = self._range() if has_conditions else None
        if part and part[0] == part[1]:
            raise HTTPRequestRangeNotSatisfiable(headers={"Content-Range": f"bytes */{self._size}"})
        if self._location and (not has_conditions or self._is_plain(part)):
            return self._accel_redirect(self._location)
        if not part:
            return self._part(200, 0, self._size)
        start, end = part
        self._headers["Content-Range"] = f"bytes {start}-{end - 1}/{self._size}"
        return self._part(206, start, end)

    def _precondition_fails(self) -> bool:
        """Return whether If-Match or, without it, If-Unmodified-Since fails (RFC 9110, 13.1.1 and 13.1.4)."""
        if "If-Match" in self._request.headers:
            return self._etag not in self._request.if_match
        until = self._date("If-Unmodified-Since")
        return until is not None and self._modified > until

    def _is_fresh(self) -> bool:
        """Return whether the client has this content already (RFC 9110, 13.1.2 and 13.1.3)."""
        if IF_NONE_MATCH in self._request.headers:
            return is_known(self._request, self._etag)
        since = self._date("If-Modified-Since")
        return since is not None and self._modified <= since

    def _date(self, header: str) -> datetime | None:
        """Return the date in a header. An invalid date is ignored (RFC 9110, 13.1.3)."""
        with contextlib.suppress(ValueError, OverflowError):
            return cast("datetime | None", parse_date(self._request.headers.get(header)))
        return None

    def _allows_range(self) -> bool:
        """Return whether If-Range allows a part: it is the exact ETag or date (RFC 9110, 13.1.5)."""
        return self._request.headers.get("If-Range") in {None, self._headers["ETag"], self._headers["Last-Modified"]}

    def _range(self) -> tuple[int, int] | None:
        header = self._request.headers.get("Range")
        if header is None or self._request.method != "GET" or not self._allows_range():
            return None
        return parse_range(header, self._size)

    def _is_plain(self, part: tuple[int, int] | None) -> bool:
        header = self._request.headers.get("Range")
        return header is None or (part is not None and PLAIN_RANGE.fullmatch(header) is not None)

    def _accel_redirect(self, location: str) -> Response:
        self._headers["X-Accel-Redirect"] = location
        del self._headers["Accept-Ranges"]  # nginx adds it itself
        return self._response(200, (), length=0)

    def _part(self, status: int, start: int, end: int) -> Response:
        return self._response(status, self._content(start, end - start), length=end - start)

    def _content(self, start: int, length: int) -> Iterable[bytes]:
        if self._request.method == "HEAD":
            return ()
        if length <= SMALL:
            return [self._read(start, length)]
        return _send(self._request, begun(self._open(start, length)), length)

    def _response(self, status: int, content: Iterable[bytes], length: int | None = None) -> Response:
        """Return the response with all headers at once: setting them one by one is slow in WebOb."""
        if length is not None:
            self._headers["Content-Length"] = str(length)
        headers = list(self._headers.items())
        return Response(status=status, headerlist=headers, app_iter=content, conditional_response=False)


def send_export(request: FrepoRequest, lines: Iterable[bytes], media: str, name: str) -> Response:
    """Answer with a file of this name that consists of these lines. It is complete before the answer begins.

    Raises `TooManyExportsError`, `StorageFull`, and what the lines raise.
    """
    headers = [("Content-Type", media), ("Content-Disposition", f'attachment; filename="{name}"')]
    if request.method == "HEAD":
        return Response(headerlist=headers, app_iter=(), conditional_response=False)
    file = request.services.exports.write(lines)
    headers.append(("Content-Length", str(file.size)))
    content = _send(request, cast(BinaryIO, file), file.size)
    return Response(headerlist=headers, app_iter=content, conditional_response=False)


def _send(request: FrepoRequest, file: BinaryIO, length: int) -> Iterable[bytes]:
    """Return the content of a file for the server, which sends it by its position without a thread, and closes it."""
    wrap = request.environ.get("wsgi.file_wrapper")
    return cast(Iterable[bytes], wrap(file, BLOCK)) if wrap else _blocks(file, length)


def _blocks(file: BinaryIO, length: int) -> Iterator[bytes]:
    """Yield exactly `length` bytes and close the file. If it ends early, an error aborts the connection."""
    with file:
        while length:
            block = file.read(min(BLOCK, length))
            if not block:
                raise BytesMissingError("The bytes of this file end too early in the storage")
            length -= len(block)
            yield block
