"""Data of every kind, stored through the API of one version of frepo, and checked through the API of another one.

The checks change the data: they also add, replace and delete.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from support.client import COLLECTIONS, Client

PASSWORD = "file-5ecre7"
WRONG_BYTES = b"other bytes"
KEY = {"Idempotency-Key": "nightly-1"}
CONTENTS = {name: f"the content of {name}\n".encode() for name in ("open", "protected", "damaged", "repeated")}
VERSIONS = {number: f"-- dump number {number}\n".encode() for number in range(1, 5)}
LATEST = max(VERSIONS)
KEPT = 3


@dataclass(frozen=True, kw_only=True)
class Stored:
    """The data stored in an earlier version of frepo, and its answers."""

    uploader: str
    pusher: str
    files: dict[str, dict[str, Any]]
    collection: str
    versions: dict[int, dict[str, Any]]

    @property
    def names(self) -> dict[str, str]:
        """The stored names of the files."""
        return {name: answer["filename"] for name, answer in self.files.items()}


def store(root: Client, damage: Callable[[str], None]) -> Stored:
    """Store data as an administrator. `damage` overwrites a stored content, given by SHA-256, and verifies all."""
    uploader = _token(root, "upload.all", "view.can_use_listing_endpoint_at_all", tags=["nightly"])
    pusher = _token(root, "collections.upload_to_allowed_collections")
    files = {
        "open": _upload(root, "open", tags="nightly", public="true"),
        "protected": _upload(root, "protected", tags="secret", public="true", password=PASSWORD),
        "damaged": _upload(root, "damaged"),
        "repeated": _upload(root, "repeated", headers=KEY),
    }
    collection = root.create(filename="dump.sql", maxBackupsCount=KEPT).json["collection"]["id"]
    assert 200 == root.post(f"{COLLECTIONS}/{collection}/token", {"token": pusher}).status_int
    versions = {}
    for number, content in VERSIONS.items():
        answer = root.push(collection, content, headers=KEY if number == LATEST else {})
        assert (200, number) == (answer.status_int, answer.json["version"]["version"]), answer.body
        versions[number] = answer.json
    damage(files["damaged"]["sha256"])
    return Stored(uploader=uploader, pusher=pusher, files=files, collection=collection, versions=versions)


def check(root: Client, stored: Stored, *, keeps_answers: bool = True) -> None:
    """Check and use the data. `keeps_answers`: the data holds the answers to uploads with an Idempotency-Key."""
    _check_tokens(root, stored)
    _check_files(root, stored)
    _check_listing(root, stored)
    if keeps_answers:
        assert stored.versions[LATEST] == root.push(stored.collection, VERSIONS[LATEST], headers=KEY).json
        repeated = root.upload(CONTENTS["repeated"], "repeated.txt", headers=KEY)
        assert (200, stored.files["repeated"]) == (repeated.status_int, repeated.json)
    _check_versions(root, stored)
    _check_deletions(root, stored)


def _token(root: Client, *roles: str, **data: Any) -> str:
    answer = root.post("/auth/token/generate", {"roles": roles, "data": data, "expires": "never"})
    assert 202 == answer.status_int, answer.body
    return str(answer.json["tokenId"])


def _upload(root: Client, name: str, **more: Any) -> dict[str, Any]:
    answer = root.upload(CONTENTS[name], f"{name}.txt", **more)
    assert 200 == answer.status_int, answer.body
    uploaded: dict[str, Any] = answer.json
    return uploaded


def _check_tokens(root: Client, stored: Stored) -> None:
    found = root.get(f"/auth/token/{stored.uploader}").json
    assert ["nightly"] == found["tags"]
    assert {"upload.all", "view.can_use_listing_endpoint_at_all"} == set(found["roles"])
    assert 200 == Client(root.app, stored.uploader).get("/version").status_int
    assert 403 == Client(root.app, stored.uploader).get(f"{COLLECTIONS}/{stored.collection}/backup").status_int


def _check_files(root: Client, stored: Stored) -> None:
    anonymous, names = Client(root.app), stored.names
    assert CONTENTS["open"] == anonymous.download(names["open"]).body
    assert 403 == anonymous.download(names["protected"]).status_int
    assert CONTENTS["protected"] == anonymous.download(names["protected"], {"password": PASSWORD}).body
    assert 7016105 == anonymous.download(names["damaged"]).json["error_code"]
    assert 202 == root.upload(CONTENTS["damaged"], "damaged.txt").status_int
    assert CONTENTS["damaged"] == anonymous.download(names["damaged"]).body


def _check_listing(root: Client, stored: Stored) -> None:
    query = {"searchQuery": "PEN.txt", "mimes[]": "text/plain", "tags[]": "nightly"}
    (row,) = Client(root.app, stored.uploader).get("/repository", query).json["results"]
    assert (stored.names["open"], ["nightly"]) == (row["filename"], row["tags"])
    rows = root.get("/repository").json["results"]
    assert list(reversed(stored.names.values())) == [row["filename"] for row in rows]


def _check_versions(root: Client, stored: Stored) -> None:
    where, anonymous = f"{COLLECTIONS}/{stored.collection}", Client(root.app)
    present = root.versions(stored.collection)
    assert [str(number) for number in list(VERSIONS)[-KEPT:]] == list(present)
    for number, version in present.items():
        link = version["url"].partition("/repository")[2]
        assert VERSIONS[int(number)] == anonymous.get(f"/repository{link}").body
    added = Client(root.app, stored.pusher).push(stored.collection, b"-- today's dump\n")
    assert (200, LATEST + 1) == (added.status_int, added.json["version"]["version"])
    assert [str(LATEST - 1), str(LATEST), str(LATEST + 1)] == list(root.versions(stored.collection))
    size = len(VERSIONS[LATEST - 1]) + len(VERSIONS[LATEST]) + len(b"-- today's dump\n")
    now = root.get(where).json["collection"]
    assert (KEPT, size, LATEST + 1) == (now["versions_count"], now["stored_size"], now["last_version"])
    oldest = stored.versions[LATEST - KEPT + 1]["version"]["file"]["filename"]
    assert 404 == root.download(oldest).status_int


def _check_deletions(root: Client, stored: Stored) -> None:
    uploader = Client(root.app, stored.uploader)
    assert 200 == uploader.upload(b"new", "new.txt").status_int
    assert 200 == root.delete(f"/auth/token/{stored.uploader}").status_int
    assert 403 == uploader.get("/version").status_int
    for name in stored.names.values():
        assert 200 == root.delete(f"/repository/file/{name}").status_int
        assert 404 == root.download(name).status_int
    for number in root.versions(stored.collection):
        assert 200 == root.delete(f"{COLLECTIONS}/{stored.collection}/backup/v{number}").status_int
    assert 200 == root.delete(f"{COLLECTIONS}/{stored.collection}").status_int
