"""A proxy before an S3 store that forgets retentions: it answers 200 to them, as some releases of stores did."""

import contextlib
import http.client
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@contextlib.contextmanager
def forgetting_s3(endpoint: str) -> Iterator[str]:
    """Pass all requests on to a store but those that retain an object; return the proxy's endpoint."""

    class Proxy(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def _pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.command == "PUT" and "retention" in self.path:
                self._answer(200, b"", {})
                return
            store = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=30)
            with contextlib.closing(store):
                # The signature is that of the host which the client has called.
                store.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
                for name, value in self.headers.items():
                    store.putheader(name, value)
                store.endheaders(body)
                answer = store.getresponse()
                self._answer(answer.status, answer.read(), dict(answer.getheaders()))

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response_only(status)
            for name, value in headers.items():
                if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                    self.send_header(name, value)
            length = headers.get("Content-Length", str(len(body))) if self.command == "HEAD" else str(len(body))
            self.send_header("Content-Length", length)
            self.end_headers()
            self.wfile.write(body)

        do_PUT = do_POST = do_GET = do_HEAD = do_DELETE = _pass_on

    with ThreadingHTTPServer(("127.0.0.1", 0), Proxy) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join(10)
