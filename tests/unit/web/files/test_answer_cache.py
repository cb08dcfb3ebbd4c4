"""A repeated download of a small public file gets the same answer, until something changes or the request differs."""

import os

import pytest

from frepo_core.web.views import answer_cache
from support.client import with_settings
from support.wire import eventually

OTHER_HEADERS = [
    ({"Range": "bytes=1-2"}, 206),
    ({"If-None-Match": '"other"'}, 200),
    ({"If-Match": '"other"'}, 412),
    ({"If-Modified-Since": "Fri, 01 Jan 2100 00:00:00 GMT"}, 304),
    ({"If-Unmodified-Since": "Thu, 01 Jan 1970 00:00:00 GMT"}, 412),
    ({"X-Auth-Token": "00000000-0000-4000-8000-000000000000"}, 403),
    ({"token": "00000000-0000-4000-8000-000000000000"}, 403),
    ({"Authorization": "Bearer 00000000-0000-4000-8000-000000000000"}, 403),
    ({"Host": "not a host"}, 400),
]


@pytest.fixture
def name(uploader, anonymous):
    """A file that was downloaded before, with and without its ETag."""
    name = uploader.upload(b"content").json["filename"]
    tag = anonymous.download(name).headers["ETag"]
    anonymous.download(name, headers={"If-None-Match": tag})
    return name


def parts(answer):
    return answer.status, sorted(answer.headers.items()), answer.body


def test_the_answer_is_the_same(uploader, anonymous):
    name = uploader.upload(b"content").json["filename"]
    tag = {"If-None-Match": anonymous.head(f"/repository/file/{name}").headers["ETag"]}
    for headers, expected in [({}, (200, b"content")), (tag, (304, b""))]:
        first, second = anonymous.download(name, headers=headers), anonymous.download(name, headers=headers)
        assert expected == (first.status_int, first.body)
        assert parts(first) == parts(second)


def test_what_decides_in_a_request_is_regarded(name, anonymous):
    for headers, status in OTHER_HEADERS:
        assert status == anonymous.download(name, headers=headers).status_int
    assert 403 == anonymous.download(name, {"_token": "00000000-0000-4000-8000-000000000000"}).status_int


def test_a_password_that_was_set_meanwhile_is_needed(name, app, admin, anonymous):
    app.patch_json(f"/api/v1/files/{name}", {"password": "word-5ecre7"}, headers={"X-Auth-Token": admin})

    assert 403 == anonymous.download(name).status_int


def test_a_file_that_was_deleted_meanwhile_is_not_found(name, root, anonymous):
    root.delete(f"/repository/file/{name}")

    assert 404 == anonymous.download(name).status_int


def test_an_alias_of_the_same_name_that_was_added_meanwhile_is_followed(name, uploader, anonymous, tmp_path):
    other = uploader.upload(b"other").json["filename"]
    (tmp_path / "ids_mapping.yaml").write_text(f"{name}: {other}\n")

    assert b"other" == eventually(b"other", lambda: anonymous.download(name).body)


def test_a_change_by_another_process_is_seen(name, services, anonymous):
    other = services.database.engine.raw_connection()
    other.driver_connection.execute("DELETE FROM file")
    other.commit()
    other.close()

    assert 404 == anonymous.download(name).status_int


@with_settings(fs__cache_size="0")
def test_a_lost_content_is_missed(uploader, anonymous, tmp_path):
    name = uploader.upload(b"content").json["filename"]
    anonymous.download(name)
    [path] = (path for path in (tmp_path / "storage").rglob("*") if path.is_file())
    os.unlink(path)

    assert 500 == anonymous.download(name).status_int


def test_other_endpoints_do_not_run_its_code(app, admin, monkeypatch):
    monkeypatch.setattr(answer_cache, "_key", None)

    assert 200 == app.get("/version", headers={"X-Auth-Token": admin}).status_int
