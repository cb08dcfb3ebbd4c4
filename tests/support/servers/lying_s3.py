"""A small S3 store in this process that serves, fails or stores other bytes, as the test orders."""

import base64
import contextlib
import hashlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal

Mood = Literal[
    "honest", "gone", "500", "page", "page of an error", "slow", "truncates", "appends", "flips", "locked", "picky"
]
TRAILER = b"\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n"
NOT_FOUND = b"<Error><Code>NoSuchKey</Code></Error>"
PAGE = b"<!doctype html><title>Welcome</title><p>Please sign in & go on<br>"
# What AWS answers to a PUT without a checksum into a bucket with Object Lock, and other stores to a checksum.
NO_CHECKSUM = b"<Error><Code>InvalidRequest</Code><Message>Content-MD5 OR x-amz-checksum- is required</Message></Error>"
NOT_IMPLEMENTED = b"<Error><Code>NotImplemented</Code></Error>"
STARTED = b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
COMPLETED = b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"
BROKEN = b"<Error><Code>InternalError</Code></Error>"


class LyingS3(ThreadingHTTPServer):
    """`mood` decides how the next request is handled; `objects` holds the stored objects."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.mood: Mood = "honest"
        self.objects: dict[str, bytes] = {}
        self.over = threading.Event()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def keep(self, body: bytes) -> bytes:
        """Return the part of a body that the store keeps."""
        return {
            "truncates": body[: len(body) // 2],
            "appends": body + TRAILER,
            "flips": body[:-1] + bytes([body[-1] ^ 1]) if body else body,
        }.get(self.mood, body)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: LyingS3

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the client disconnected
            super().handle()

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in ({"Content-Length": str(len(body))} | headers).items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _serve(self) -> None:
        if self.server.mood == "gone":
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.server.mood == "slow":
            self.server.over.wait(30)
        key, objects = self.path.partition("?")[0], self.server.objects
        if self.server.mood == "500":
            self._answer(500, BROKEN)
        elif self.server.mood.startswith("page"):
            self._answer(
                403 if "error" in self.server.mood else 200, PAGE, Last_Modified="now", Content_Type="text/html"
            )
        elif self.command == "POST":
            self._answer(200, STARTED if self.path.endswith("?uploads") else COMPLETED)
        elif self.command == "PUT" and self.server.mood == "locked" and not self._has_checksum(body):
            self._answer(400, NO_CHECKSUM)
        elif self.command == "PUT" and self.server.mood == "picky" and "x-amz-checksum-crc32" in self.headers:
            self._answer(501, NOT_IMPLEMENTED)
        elif self.command == "PUT":
            objects[key] = (objects.get(key, b"") if "partNumber" in self.path else b"") + self.server.keep(body)
            self._answer(200, ETag=f'"{hashlib.md5(body).hexdigest()}"')
        elif self.command == "DELETE":
            objects.pop(key, None)
            self._answer(204)
        elif key.count("/") == 1:  # the bucket
            self._answer(200, _list(key, objects) if self.command == "GET" else b"")
        elif key in objects:
            self._answer_with(objects[key])
        else:
            self._answer(404, NOT_FOUND)

    def _has_checksum(self, body: bytes) -> bool:
        md5 = base64.b64encode(hashlib.md5(body).digest()).decode()
        return self.headers.get("Content-MD5") == md5 or "x-amz-checksum-crc32" in self.headers

    def _answer_with(self, content: bytes) -> None:
        more = {"Last_Modified": "Sat, 21 Nov 2026 04:00:00 GMT", "ETag": '"x"'}
        span = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if not span or self.command == "HEAD":
            self._answer(200, content, **more)
            return
        start, end = int(span[1]), min(int(span[2] or len(content)), len(content) - 1)
        self._answer(206, content[start : end + 1], Content_Range=f"bytes {start}-{end}/{len(content)}", **more)

    do_PUT = do_POST = do_GET = do_HEAD = do_DELETE = _serve


def _list(bucket: str, objects: dict[str, bytes]) -> bytes:
    rows = "".join(
        f"<Contents><Key>{key.removeprefix(bucket + '/')}</Key><Size>{len(content)}</Size>"
        "<LastModified>2026-11-21T04:00:00Z</LastModified></Contents>"
        for key, content in sorted(objects.items())
    )
    return f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>".encode()


@contextlib.contextmanager
def lying_s3() -> Iterator[LyingS3]:
    """Run the store until the end of the block."""
    with LyingS3() as store:
        thread = threading.Thread(target=store.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield store
        finally:
            store.over.set()
            store.shutdown()
            thread.join(10)
