"""Storing a file of the WAL: it is on the disk of the server when this returns."""

from __future__ import annotations

import base64
import hashlib
import os

from ..server.api import Api
from ..uploads.wire import encoder


def push(api: Api, collection: str, path: str, name: str) -> None:
    """Store a file under a name, unless it is there with the same content. Raises `RefusedError` if it is not.

    The server is told how many segments wait on this machine: an archive that fails fills the disk of the primary.
    """
    with open(path, "rb") as file:
        content = file.read()
        written = int(os.fstat(file.fileno()).st_mtime)
    coding = api.coding()
    body = encoder(coding)(content)
    digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
    headers = {
        "Content-Type": "application/octet-stream",
        "Content-Length": str(len(body)),
        "Content-Digest": f"sha-256=:{digest}:",
        "X-Frepo-Wal-Waiting": str(_count_waiting(path)),
        "X-Frepo-Wal-Written": str(written),
        **({"Content-Encoding": coding} if coding else {}),
    }
    address = path_of(api, collection, name)
    api.retry.run(lambda: api.connection.send("PUT", address, body=body, headers=headers))


def path_of(api: Api, collection: str, name: str) -> str:
    """Return the address of a file."""
    return f"/api/v1/collections/{api.collection_id(collection)}/wal/{name}"


def _count_waiting(path: str) -> int:
    """Return how many files PostgreSQL has not archived yet; 0 if `path` is in no folder of PostgreSQL."""
    try:
        names = os.listdir(os.path.join(os.path.dirname(path), "archive_status"))
    except OSError:
        return 0
    return sum(name.endswith(".ready") for name in names)
