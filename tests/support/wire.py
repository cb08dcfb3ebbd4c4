"""A client that sends exact bytes, and functions that observe the service from outside."""

import contextlib
import http.client
import io
import json
import os
import socket
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote, urlencode

from frepo_core.services.content import held_bytes
from frepo_core.services.upkeep.journal.keys import JournalKey
from frepo_core.services.upkeep.storage import OwnerMark
from support.servers.service import Service

SECONDS = 60


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class _SharedBuffer(io.BufferedReader):
    """A buffer for several answers: bytes read after the end of one answer belong to the next."""

    def close(self) -> None:
        pass


class Wire:
    """One connection. `send` sends bytes unchanged, `reply` reads one answer."""

    def __init__(self, service: Service) -> None:
        host, port = service.address.split(":")
        self.socket = socket.create_connection((host, int(port)), SECONDS)
        self._raw = self.socket.makefile("rb", buffering=0)
        self._file = _SharedBuffer(self._raw)

    def send(self, *pieces: bytes) -> Self:
        for piece in pieces:
            self.socket.sendall(piece)
        return self

    def reply(self, method: str = "POST") -> Reply:
        answer = http.client.HTTPResponse(self.socket, method=method)
        answer.fp.close()
        answer.fp = self._file
        answer.begin()
        return Reply(status=answer.status, headers=answer.headers, body=answer.read())

    def half_close(self) -> Self:
        self.socket.shutdown(socket.SHUT_WR)
        return self

    def rest(self) -> bytes:
        """Read until the service closes the connection."""
        pieces = []
        with contextlib.suppress(ConnectionResetError):
            while piece := self.socket.recv(1 << 20):
                pieces.append(piece)
        return b"".join(pieces)

    def close(self) -> None:
        self._raw.close()
        self.socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def head(method: str, target: str | bytes, *fields: str | bytes) -> bytes:
    """Write a request's head, with a Host and the given fields."""
    encoded = (piece if isinstance(piece, bytes) else piece.encode() for piece in fields)
    where = target if isinstance(target, bytes) else target.encode()
    return b"\r\n".join([method.encode() + b" " + where + b" HTTP/1.1", b"Host: test", *encoded, b"", b""])


def chunked(pieces: Iterable[bytes], end: bytes = b"0\r\n\r\n") -> bytes:
    return b"".join(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces) + end


class Client:
    """Well-formed requests to a service with an administrator's token, by default the service's."""

    def __init__(self, service: Service, token: str | None = None) -> None:
        self.service = service
        self.token = token or service.admin
        self.auth = f"X-Auth-Token: {self.token}"

    def request(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, token: bool = True
    ) -> Reply:
        connection = http.client.HTTPConnection(self.service.address, timeout=SECONDS * 4)
        extra = {"X-Auth-Token": self.token} if token else {}
        try:
            connection.request(method, path, body=body, headers=extra | (headers or {}))
            answer = connection.getresponse()
            return Reply(status=answer.status, headers=answer.headers, body=answer.read())
        finally:
            connection.close()

    def upload(self, body: Any, name: str = "a.bin", headers: dict[str, str] | None = None, **query: str) -> Reply:
        where = "/repository/file/upload?" + urlencode({"fileName": name} | query)
        return self.request("POST", where, body, headers)

    def multipart(self, body: bytes, boundary: str = "XX", **query: str) -> Reply:
        return self.request(
            "POST",
            "/repository/file/upload?" + urlencode(query),
            body,
            {"Content-Type": f"multipart/form-data; boundary={boundary}"},
        )

    def download(self, name: str, headers: dict[str, str] | None = None, method: str = "GET") -> Reply:
        return self.request(method, f"/repository/file/{quote(name)}", None, headers, token=False)

    def content(self, uploaded: Reply) -> bytes:
        """Return the stored content of an upload."""
        assert uploaded.status in {200, 202}, uploaded.body
        return self.download(uploaded.json["filename"]).body

    def collection(self, count: int = 0, **more: Any) -> str:
        body = {"maxBackupsCount": count, "filename": "dump.sql.gz", **more}
        reply = self.request("POST", "/repository/collection", json.dumps(body))
        assert reply.status == 202, reply.body
        return str(reply.json["collection"]["id"])

    def push(self, collection: str, body: Any, headers: dict[str, str] | None = None) -> Reply:
        return self.request("POST", f"/repository/collection/{collection}/backup", body, headers)

    def versions(self, collection: str) -> dict[str, Any]:
        return self.request("GET", f"/repository/collection/{collection}/backup").json["versions"]


def field(name: str, value: bytes, filename: str | None = None, *headers: str, boundary: str = "XX") -> bytes:
    """Write one part of a form."""
    disposition = f'Content-Disposition: form-data; name="{name}"'
    disposition += f'; filename="{filename}"' if filename is not None else ""
    lines = [f"--{boundary}", disposition, *headers, "", ""]
    return "\r\n".join(lines).encode() + value + b"\r\n"


def form(*parts: bytes, boundary: str = "XX") -> bytes:
    return b"".join(parts) + f"--{boundary}--\r\n".encode()


def rows(service: Service) -> dict[str, int]:
    """Count the rows of the tables that an upload writes."""
    database = sqlite3.connect(service.folder / "frepo.db")
    try:
        tables = ("object", "file", "tag", "version")
        return {name: database.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables}
    finally:
        database.close()


def blob_files(service: Service) -> list[str]:
    """All files in the storage, including partly written ones, but without what the worker writes by itself there.

    That is the owner's mark, the journal and the catalogue.
    """
    root = service.storage
    keys = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    return sorted(str(root / key) for key in keys if not (OwnerMark.parse(key) or JournalKey.parse(key)))


def open_files(service: Service) -> list[str]:
    """The targets of the service's file descriptors."""
    found = []
    for descriptor in Path(f"/proc/{service.pid}/fd").iterdir():
        try:
            found.append(os.readlink(descriptor))
        except FileNotFoundError:
            continue
    return found


def descriptors(service: Service) -> list[str]:
    """The targets of the service's file descriptors, except connections to its database: jobs connect at any moment."""
    return [path for path in open_files(service) if "frepo.db" not in path]


def temporary_files(service: Service) -> list[str]:
    """Files in the temporary folder, and open files without a name; not the one with the process's numbers."""
    named = [str(path) for path in service.temporary.rglob("*")]
    found = named + [path for path in open_files(service) if path.startswith(str(service.temporary))]
    return [path for path in found if held_bytes.PREFIX not in path]


def traces(service: Service) -> dict[str, Any]:
    """Return all data that a request may leave behind: rows, blobs and temporary files."""
    return rows(service) | {"blobs": blob_files(service), "temporary": temporary_files(service)}


def eventually(expected: Any, look: Callable[[], Any], seconds: float = 60) -> Any:
    """Repeat the observation until it has the expected value, and return that. Fails when the time is over."""
    deadline = time.monotonic() + seconds
    while (seen := look()) != expected:
        assert time.monotonic() < deadline, f"{seen!r} after {seconds} seconds, not {expected!r}"
        time.sleep(0.02)
    return seen


def cpu_seconds(service: Service) -> float:
    """Return the time that the process has computed, whatever else the machine does."""
    fields = Path(f"/proc/{service.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reset_peak_memory(service: Service) -> int:
    """Make `peak_memory` forget the past of the process (proc(5), clear_refs); return what it has now, in MiB."""
    Path(f"/proc/{service.pid}/clear_refs").write_text("5")
    return peak_memory(service)


def peak_memory(service: Service) -> int:
    """The peak memory of the process, in MiB."""
    status = Path(f"/proc/{service.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024
