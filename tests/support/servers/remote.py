"""A web server on a separate loopback address that sends bytes specified by a test."""

import contextlib
import re
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping

Script = Callable[[socket.socket], None]
CHUNKED = "Transfer-Encoding: chunked"


class Remote:
    """Answers each path with the bytes or the script in `answers`, then closes the connection.

    `requests` has the received requests, head and body.
    """

    def __init__(
        self,
        answers: Mapping[str, bytes | Script],
        address: str = "127.0.0.2",
        port: int = 0,
        context: ssl.SSLContext | None = None,
    ) -> None:
        self._answers = answers
        self._context = context
        self._listener = socket.create_server((address, port))
        self._threads = [threading.Thread(target=self._accept)]
        self.port = int(self._listener.getsockname()[1])
        self.origin = f"{'https' if context else 'http'}://{address}:{self.port}"
        self.requests: list[str] = []
        self._threads[0].start()

    def wait_until_idle(self) -> None:
        """Wait until all connections are finished."""
        for thread in self._threads[1:]:
            thread.join(60)

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(60)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._serve, args=[connection])
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection:
                self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(60)
        request = b""
        while not _is_complete(request):
            chunk = connection.recv(65536)
            if not chunk:
                return
            request += chunk
        self.requests.append(request.decode())
        answer = self._answers.get(request.split()[1].decode().partition("?")[0], ok(b"content"))
        if callable(answer):
            answer(connection)
        else:
            connection.sendall(answer)


def _is_complete(request: bytes) -> bool:
    """Tell whether the head is there, and the body, which may arrive after it."""
    head, end, body = request.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
    return bool(end) and len(body) >= int(length[1] if length else 0)


def ok(body: bytes, *headers: str) -> bytes:
    return reply("200 OK", body, f"Content-Length: {len(body)}", *headers)


def reply(status: str, body: bytes = b"", *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", "Connection: close", *headers, "", ""]).encode() + body


def redirect(target: str) -> bytes:
    return reply("302 Found", b"", f"Location: {target}", "Content-Length: 0")


def say_nothing(connection: socket.socket) -> None:
    """Wait until the client disconnects."""
    connection.recv(1)


def endless(head: bytes, chunk: bytes = b"x" * 65536, pause: float = 0) -> Script:
    """Send the head, then repeat the chunk until the client disconnects."""

    def send(connection: socket.socket) -> None:
        connection.sendall(head)
        waiting = threading.Event()
        while True:
            connection.sendall(chunk)
            waiting.wait(pause)

    return send


@contextlib.contextmanager
def serving(answers: Mapping[str, bytes | Script], **more: object) -> Iterator[Remote]:
    remote = Remote(answers, **more)  # type: ignore[arg-type]
    try:
        yield remote
    finally:
        remote.stop()
