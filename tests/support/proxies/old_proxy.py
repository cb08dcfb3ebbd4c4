"""A forward proxy as old ones are: it speaks HTTP/1.0, and passes a body on when it has all of it."""

import contextlib
import http.client
import threading
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class _Handler(BaseHTTPRequestHandler):
    def _forward(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        largest = self.server.largest  # type: ignore[attr-defined]
        if largest is not None and int(self.headers.get("Content-Length", "0")) > largest:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_error(413)
            return
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body = self.server.changed(body)  # type: ignore[attr-defined]
        dropped = {"connection", *self.server.dropped}  # type: ignore[attr-defined]
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        connection = http.client.HTTPConnection(url.netloc, timeout=60)
        connection.request(self.command, url._replace(scheme="", netloc="").geturl(), body=body, headers=headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        self.server.passed.append(self.command)  # type: ignore[attr-defined]
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            # The end of the connection is the end of the body.
            if name.lower() not in {"connection", "transfer-encoding", "content-length"}:
                self.send_header(name, value)
        self.end_headers()
        content = self.server.answered(content)  # type: ignore[attr-defined]
        self.wfile.write(content + self.server.more)  # type: ignore[attr-defined]

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _forward

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextlib.contextmanager
def old_proxy(
    *,
    dropped: Sequence[str] = (),
    more: bytes = b"",
    changed: Callable[[bytes], bytes] = bytes,
    answered: Callable[[bytes], bytes] = bytes,
    largest: int | None = None,
) -> Iterator[tuple[str, list[str]]]:
    """Run the proxy; yield its URL, and a list of the methods that have passed.

    Headers of requests with a name in `dropped` are left out, and `more` is added to each body of an answer. `changed`
    returns the body of a request as it is passed on, of the same length; `answered` that of an answer. A request with
    more than `largest` bytes is answered 413, as nginx does.
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.passed, server.dropped, server.more = [], dropped, more  # type: ignore[attr-defined]
        server.changed, server.answered = changed, answered  # type: ignore[attr-defined]
        server.largest = largest  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", server.passed  # type: ignore[attr-defined]
        server.shutdown()
        thread.join()
