"""A webhook receiver that verifies signatures with the library of Standard Webhooks."""

import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from standardwebhooks import Webhook

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="


class WebhookReceiver:
    """Answers requests with `status`. `received` has the verified messages with their ids, `seen` all paths.

    127.0.0.2 represents a public address.
    """

    def __init__(self, address: str = "127.0.0.2") -> None:
        self.status = 204
        self.location = ""
        self.received: list[tuple[str, dict[str, Any]]] = []
        self.seen: list[str] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.seen.append(self.path)
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if receiver.status < 300:
                    message = Webhook(SECRET).verify(body, dict(self.headers.items()))
                    receiver.received.append((self.headers["webhook-id"], message))
                self._answer()

            def do_GET(self) -> None:
                receiver.seen.append(self.path)
                self._answer()

            def _answer(self) -> None:
                self.send_response(receiver.status)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer((address, 0), Handler)
        self.origin = f"http://{address}:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@contextlib.contextmanager
def webhook_receiver(address: str = "127.0.0.2") -> Iterator[WebhookReceiver]:
    receiver = WebhookReceiver(address)
    try:
        yield receiver
    finally:
        receiver.stop()
