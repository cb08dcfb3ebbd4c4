"""An HTTP client that uses little CPU: the kernel copies bodies from a file to the socket, and discards answers."""

import http.client
import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

BLOCK = 1 << 20


def post_file(
    address: str,
    path: str,
    file: Path,
    headers: Mapping[str, str],
    *,
    method: str = "POST",
    around: tuple[bytes, bytes] = (b"", b""),
) -> dict[str, Any]:
    """Post a file between the bytes before and after it in the body; return the answer's JSON."""
    size = file.stat().st_size + sum(map(len, around))
    with _connect(address) as connection, file.open("rb") as content:
        connection.sendall(_head(method, path, address, {**headers, "Content-Length": str(size)}) + around[0])
        connection.sendfile(content)
        connection.sendall(around[1])
        return _json(connection)


def post_chunked(address: str, path: str, file: Path, headers: Mapping[str, str]) -> dict[str, Any]:
    """Post a file in chunks of 1 MiB, each in one packet with its size line; return the answer's JSON."""
    size, between = file.stat().st_size, b""
    with _connect(address) as connection, file.open("rb") as content:
        connection.sendall(_head("POST", path, address, {**headers, "Transfer-Encoding": "chunked"}))
        for start in range(0, size, BLOCK):
            length = min(BLOCK, size - start)
            connection.sendall(b"%b%x\r\n" % (between, length), socket.MSG_MORE)
            connection.sendfile(content, start, length)
            between = b"\r\n"
        connection.sendall(between + b"0\r\n\r\n")
        return _json(connection)


def send_parts(address: str, path: str, file: Path, headers: Mapping[str, str], part: int) -> None:
    """Send a file as the bodies of PATCH requests of `part` bytes each, over one connection as clients of tus do."""
    size = file.stat().st_size
    with _connect(address) as connection, file.open("rb") as content:
        for start in range(0, size, part):
            length = min(part, size - start)
            more = {**headers, "Content-Length": str(length), "Upload-Offset": str(start)}
            connection.sendall(_head("PATCH", path, address, more, "keep-alive"))
            connection.sendfile(content, start, length)
            _json(connection)


def fetch(address: str, path: str, headers: Mapping[str, str] = {}, method: str = "GET") -> int:  # only read
    """Request a path, and discard the body in the kernel; return its length."""
    with _connect(address) as connection:
        connection.sendall(_head(method, path, address, headers))
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status}")
        length, buffer = int(answer.headers["Content-Length"]), bytearray(BLOCK)
        left = length - len(answer.fp.peek()) if length else 0
        while left > 0:
            left -= connection.recv_into(buffer, min(left, BLOCK), socket.MSG_TRUNC)
        return length


def stamp(file: Path) -> bytes:
    """Change a file's first 48 bytes, so that its content is new; return them."""
    mark = os.urandom(48)
    with file.open("r+b") as content:
        content.write(mark)
    return mark


def make_file(path: Path, size: int) -> Path:
    """Write a file that repeats 1 MiB of random bytes."""
    block = os.urandom(BLOCK)
    with path.open("wb") as content:
        for start in range(0, size, BLOCK):
            content.write(block[: min(BLOCK, size - start)])
    return path


class PersistentConnection:
    """A persistent connection, to time small requests."""

    def __init__(self, address: str, headers: Mapping[str, str]) -> None:
        self._connection = http.client.HTTPConnection(address)
        self._connection.connect()
        self._connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._headers = dict(headers)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def locate(self, method: str, path: str) -> str:
        """Send a request without a body; return the path in the header Location."""
        self._connection.request(method, path, b"", self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 201:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return urlsplit(answer.headers["Location"]).path

    def ask(self, method: str, path: str, body: bytes | None = None) -> bytes:
        """Send a request; return the body."""
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:300]!r}")
        return content


def _connect(address: str) -> socket.socket:
    host, port = address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=600)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _head(method: str, path: str, address: str, headers: Mapping[str, str], then: str = "close") -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {address}", f"Connection: {then}"]
    return "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]).encode()


def _json(connection: socket.socket) -> dict[str, Any]:
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    content = answer.read()
    if answer.status >= 300:
        raise RuntimeError(f"{answer.status} {content[:300]!r}")
    found: dict[str, Any] = json.loads(content or b"{}") if content[:1] == b"{" else {}
    return found
