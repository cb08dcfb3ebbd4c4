"""Answers a GET or HEAD of a file: conditions, ranges and the whole (RFC 9110, 13 and 14)."""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import BinaryIO, cast

from pyramid.httpexceptions import HTTPPreconditionFailed, HTTPRequestRangeNotSatisfiable
from pyramid.response import Response
from webob.datetime_utils import parse_date

from frepo_core.domain.ranges import parse_ranges
from frepo_core.errors import BytesMissingError

from .request import FrepoRequest

BLOCK = 1 << 18
# What is as small is read at once: handing it to the thread that writes costs more than it.
SMALL = 64 << 10

Open = Callable[[int, int | None], BinaryIO]


class ContentResponse:
    """Builds the answer for one content: `size` bytes that `open_part(start, length)` opens.

    `etag` and `modified` are its validators; the response's other headers are the caller's.
    `location`: where nginx finds the content, so that it sends what the conditions allow, ranges included.
    """

    def __init__(
        self,
        request: FrepoRequest,
        *,
        size: int,
        etag: str,
        modified: datetime,
        open_part: Open,
        location: str | None = None,
    ) -> None:
        self._request = request
        self._size = size
        self._open = open_part
        self._location = location
        self._response = Response(conditional_response=False)
        self._response.accept_ranges = "bytes"
        self._response.etag = (etag, True)
        self._response.last_modified = modified.replace(microsecond=0)

    def build(self, content_type: str) -> Response:
        """Return the response; its order of checks is that of RFC 9110, 13.2.2. Raises what is 412 and 416."""
        response = self._response
        response.headers["Content-Type"] = content_type
        if self._fails():
            raise HTTPPreconditionFailed
        if self._is_fresh():
            return self._not_modified()
        ranges = self._ranges()
        if ranges == []:
            raise HTTPRequestRangeNotSatisfiable(headers={"Content-Range": f"bytes */{self._size}"})
        if self._location:
            return self._delegated(self._location)
        if not ranges:
            self._send(0, self._size)
        elif len(ranges) == 1:
            response.status = 206
            start, end = ranges[0]
            response.headers["Content-Range"] = f"bytes {start}-{end - 1}/{self._size}"
            self._send(start, end)
        else:
            self._send_parts(ranges, content_type)
        return response

    def _fails(self) -> bool:
        """Tell whether If-Match or, without it, If-Unmodified-Since forbids the answer."""
        if "If-Match" in self._request.headers:
            return self._response.etag not in self._request.if_match
        until = self._date("If-Unmodified-Since")
        return until is not None and self._response.last_modified > until

    def _is_fresh(self) -> bool:
        """Tell whether the client has this content already."""
        if "If-None-Match" in self._request.headers:
            return self._response.etag in self._request.if_none_match
        since = self._date("If-Modified-Since")
        return since is not None and self._response.last_modified <= since

    def _date(self, header: str) -> datetime | None:
        """Return the date in a header; one that cannot be read is as good as none (RFC 9110, 13.1.3)."""
        with contextlib.suppress(ValueError, OverflowError):
            return cast("datetime | None", parse_date(self._request.headers.get(header)))
        return None

    def _is_still_the_same(self) -> bool:
        """Tell whether If-Range allows a part: it names the very ETag or the very date (RFC 9110, 13.1.5)."""
        headers = self._response.headers
        return self._request.headers.get("If-Range") in {None, headers["ETag"], headers["Last-Modified"]}

    def _ranges(self) -> list[tuple[int, int]] | None:
        header = self._request.headers.get("Range")
        if header is None or self._request.method != "GET" or not self._is_still_the_same():
            return None
        return parse_ranges(header, self._size)

    def _not_modified(self) -> Response:
        self._response.status = 304
        self._response.body = b""
        del self._response.content_length, self._response.headers["Content-Type"]
        return self._response

    def _delegated(self, location: str) -> Response:
        self._response.headers["X-Accel-Redirect"] = location
        del self._response.headers["Accept-Ranges"]  # nginx says so itself, and would say it twice
        self._response.body = b""
        return self._response

    def _send(self, start: int, end: int) -> None:
        if self._request.method == "HEAD":
            self._response.app_iter = ()
        elif end - start <= SMALL:
            self._response.app_iter = [b"".join(_blocks(self._open(start, end - start), end - start))]
        else:
            file = self._open(start, end - start)
            wrap = self._request.environ.get("wsgi.file_wrapper")
            self._response.app_iter = wrap(file, BLOCK) if wrap else _blocks(file, end - start)
        # Only now: setting app_iter takes the length away, by which the server's wrapper knows the end of a range.
        self._response.content_length = end - start

    def _send_parts(self, ranges: list[tuple[int, int]], content_type: str) -> None:
        """Send multipart/byteranges (RFC 9110, 14.6)."""
        boundary = secrets.token_hex(16)
        heads = [
            f"--{boundary}\r\nContent-Type: {content_type}\r\n"
            f"Content-Range: bytes {start}-{end - 1}/{self._size}\r\n\r\n".encode()
            for start, end in ranges
        ]
        tail = f"--{boundary}--\r\n".encode()
        length = sum(map(len, heads)) + sum(end - start + 2 for start, end in ranges) + len(tail)
        self._response.status = 206
        self._response.headers["Content-Type"] = f"multipart/byteranges; boundary={boundary}"
        self._response.app_iter = self._parts(ranges, heads, tail)
        self._response.content_length = length

    def _parts(self, ranges: list[tuple[int, int]], heads: list[bytes], tail: bytes) -> Iterator[bytes]:
        for (start, end), head in zip(ranges, heads, strict=True):
            yield head
            yield from _blocks(self._open(start, end - start), end - start)
            yield b"\r\n"
        yield tail


def _blocks(file: BinaryIO, length: int) -> Iterator[bytes]:
    """Read exactly `length` bytes and close the file; one that ends early breaks off, so that the client sees it."""
    with file:
        while length:
            block = file.read(min(BLOCK, length))
            if not block:
                raise BytesMissingError("The bytes of this file end too early in the storage")
            length -= len(block)
            yield block
