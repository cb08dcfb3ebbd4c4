"""The parts of versions over HTTP: rights, passwords, pages, one part, and what changed."""

import io
import json
import tarfile
import time

import pytest

from frepo_core.domain.roles import Role

SQL = b"""PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE orders (id INTEGER);
INSERT INTO orders VALUES(1);
INSERT INTO orders VALUES(2);
CREATE TABLE "<b>odd" (id INTEGER);
CREATE TABLE gone (id INTEGER);
COMMIT;
"""
LATER = SQL.replace(b"INSERT INTO orders VALUES(2);\n", b"").replace(b"TABLE gone", b"TABLE new")


def archive():
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        for name in ("etc/nginx/b.conf", "etc/nginx/a.conf", "/../etc/passwd", "etc/hosts"):
            member = tarfile.TarInfo(name)
            member.size = 5
            tar.addfile(member, io.BytesIO(b"12345"))
    return buffer.getvalue()


@pytest.fixture
def frepo_service_settings(tmp_path):
    return {"parts.directory": str(tmp_path / "parts"), "events.downloads": "true"}


@pytest.fixture
def collection(frepo_service):
    made = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(made, SQL).status
    return made


@pytest.fixture
def read(frepo_service, collection):
    """Read a path below the newest version."""

    def read(path, *, version="latest", **more):
        return frepo_service.request("GET", f"/api/v1/collections/{collection}/versions/{version}/{path}", **more)

    return read


def test_tables_are_listed_page_by_page(read):
    first = read("contents?limit=2").json
    second = read(f"contents?limit=2&cursor={first['next']}").json

    assert ("listed", "SQLite dump", 3, None) == tuple(first[key] for key in ("state", "format", "parts", "reason"))
    assert [("<b>odd", 0), ("gone", 0), ("orders", 2)] == [
        (one["name"], one["rows"]) for one in first["items"] + second["items"]
    ]
    assert (2, None) == (len(first["items"]), second["next"])


def test_a_table_is_sent_as_a_file_that_no_browser_shows(read):
    (orders,) = read("contents?name=orders").json["items"]
    answer = read(f"contents/{orders['number']}")

    assert 200 == answer.status
    assert b"CREATE TABLE orders" in answer.body
    assert b"gone" not in answer.body
    assert 'attachment; filename="orders.sql"' == answer.headers["content-disposition"]
    assert "nosniff" == answer.headers["x-content-type-options"]
    assert str(len(answer.body)) == answer.headers["content-length"] == str(orders["size"])


def test_names_are_no_paths(frepo_service, collection, read):
    frepo_service.push(collection, archive())
    top = read("contents").json["items"]
    folders = {one["name"]: one["number"] for one in top}
    etc = read(f"contents?parent={folders['etc']}").json["items"]
    (nginx,) = (one["number"] for one in etc if one["name"] == "nginx")

    assert {"..", "etc"} == folders.keys()
    assert [("hosts", None), ("nginx", 2)] == [(one["name"], one["parts"]) for one in etc]
    assert ["a.conf", "b.conf"] == [one["name"] for one in read(f"contents?parent={nginx}").json["items"]]
    (evil,) = read("contents?name=passwd").json["items"]
    answer = read(f"contents/{evil['number']}")
    assert (b"12345", 'attachment; filename="passwd"') == (answer.body, answer.headers["content-disposition"])
    assert 404 == read(f"contents/{folders['etc']}").status  # a folder that no member is


def test_what_is_no_part_is_refused(read):
    assert [404, 404, 400, 404] == [read(f"contents/{one}").status for one in ("4", "0", "x1", "999999999")]
    assert 404 == read("contents?parent=77").status
    assert 404 == read("contents", version="v9").status


def test_what_has_no_list_says_why(frepo_service, collection, read):
    frepo_service.push(collection, b"\xfd7zXZ\x00" + bytes(300))
    found = read("contents", version="v2").json

    assert ("none", []) == (found["state"], found["items"])
    assert "by its sender, with xz" in found["reason"]
    assert 409 == read("contents/1", version="v2").status


def test_only_who_may_download_sees_names(frepo_service, collection, read):
    stranger = frepo_service.make_token(Role.LIST_VERSIONS.value)
    uploader = frepo_service.make_token(Role.UPLOAD_VERSIONS.value)

    for path in ("contents", "contents/1", "changes"):
        assert {403} == {read(path, token=token).status for token in (stranger, uploader)}
        assert 401 == read(path, token="").status


def test_a_password_protects_the_list_and_the_parts(frepo_service):
    form = {
        "filename": "shop.sql",
        "password": "p-5ecre7-Word1",
        "maxBackupsCount": 5,
        "strategy": "delete_oldest_when_adding_new",
    }
    made = frepo_service.request("POST", "/repository/collection", form).json["collection"]["id"]
    frepo_service.push(made, SQL)
    token = frepo_service.make_token(Role.LIST_VERSIONS.value)
    fingerprint = frepo_service.context("parts").service.identify(token, address="192.0.2.7").fingerprint
    frepo_service.request("PUT", f"/api/v1/collections/{made}/access/{fingerprint}")
    frepo_service.push(made, LATER)
    path = f"/api/v1/collections/{made}/versions/latest"

    for below in ("contents", "contents/1", "changes"):
        statuses = [
            frepo_service.request("GET", f"{path}/{below}", token=token, headers=headers).status
            for headers in ({}, {"X-File-Password": "w-5ecre7-Word2"}, {"X-File-Password": "p-5ecre7-Word1"})
        ]
        assert [403, 403, 200] == statuses, below
    other = {"X-File-Password": "p-5ecre7-Word1", "X-Other-File-Password": "w-5ecre7-Word2"}
    assert 403 == frepo_service.request("GET", f"{path}/changes", token=token, headers=other).status


def test_what_changed_since_the_version_before(frepo_service, collection, read):
    assert ("none", None) == tuple(read("changes").json[key] for key in ("state", "since"))
    frepo_service.push(collection, LATER)
    found = read("changes").json

    assert ("listed", 1, 3) == (found["state"], found["since"], found["total"])
    assert [("gone", "went", 0, None), ("orders", "shrank", 2, 1), ("new", "appeared", None, 0)] == [
        (one["name"], one["change"], one["rows_before"], one["rows"]) for one in found["items"]
    ]
    back = read("changes?since=v2", version="v1").json["items"]
    assert ["went", "appeared", "grew"] == [one["change"] for one in back]


def test_a_part_is_a_download_and_a_list_is_none(frepo_service, collection, read):
    read("contents")
    read("contents/1")
    deadline = time.monotonic() + 30
    while not (found := frepo_service.request("GET", "/api/v1/events?kind=version.downloaded").json["items"]):
        assert time.monotonic() < deadline
        time.sleep(0.02)

    assert 1 == len(found)


def test_a_list_is_kept_encrypted_by_the_digest(frepo_service, collection, read, tmp_path):
    read("contents")
    (path,) = (tmp_path / "parts").glob("??/*")
    digest = frepo_service.context("parts").service.version(collection, "v1").sha256

    assert (digest, 0o600) == (path.name, path.stat().st_mode & 0o777)
    assert b"orders" not in path.read_bytes()
    assert b"SQLite" not in path.read_bytes()


def test_a_large_content_is_listed_in_the_background(frepo_service, collection, read, monkeypatch):
    monkeypatch.setitem(frepo_service.context("parts").settings.__dict__, "inline_limit", 10)

    first = read("contents").json
    while (found := read("contents").json)["state"] == "pending":
        pass

    assert ("pending", "listed") == (first["state"], found["state"])
    assert "Ask again" in json.dumps(first["reason"])
