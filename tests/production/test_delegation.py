"""The sender of a download's bytes: the service, nginx by X-Accel-Redirect, or the store after a redirect."""

import logging
import os
from pathlib import Path

import pytest

from frepo_storage_local import LocalStorage

NGINX = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "192.0.2.7"}
ATTACHMENT = b"\x1f\x8b\x08\x00 the rest of a gzip file"


@pytest.fixture
def ini(ini):
    return ini | {"trusted_proxies": "10.0.0.1", "fs.accel_redirect": "/_blobs/"}


@pytest.fixture
def link(app, admin):
    answer = app.post(
        f"/repository/file/upload?fileName=dump.gz&_token={admin}", ATTACHMENT, content_type="application/gzip"
    )
    return answer.json["url"]


@pytest.fixture
def blob(ini, link):
    """The path of the only file in the storage, relative to its root."""
    return next(path for path in Path(ini["fs.local.directory"]).rglob("*") if path.is_file())


def test_behind_nginx_a_local_file_is_named_and_not_sent(app, link, blob):
    answer = app.get(link, extra_environ=NGINX)

    assert (answer.status_int, answer.body) == (200, b"")
    assert answer.headers["X-Accel-Redirect"] == f"/_blobs/local/{blob.parent.name}/{blob.name}"
    assert answer.headers["Content-Disposition"] == 'attachment; filename="dump.gz"'
    assert {"ETag", "Last-Modified", "Repr-Digest", "Cache-Control", "Content-Security-Policy"} <= set(answer.headers)


def test_the_service_sends_the_bytes_itself(app, link):
    for environment in [
        {"REMOTE_ADDR": "192.0.2.7", "HTTP_X_FORWARDED_FOR": "10.0.0.1"},
        {"REMOTE_ADDR": "10.0.0.1"},
        NGINX | {"HTTP_IF_UNMODIFIED_SINCE": "Fri, 01 Jan 2100 00:00:00 GMT"},
        NGINX | {"HTTP_IF_MATCH": "*"},
    ]:
        answer = app.get(link, extra_environ=environment)

        assert answer.body == ATTACHMENT
        assert "X-Accel-Redirect" not in answer.headers, environment


@pytest.mark.filterwarnings("ignore:Content-Type header found in a 304")  # WebTest's lint is stricter than HTTP
def test_what_the_client_has_already_is_answered_by_the_service(app, link):
    etag = app.get(link, extra_environ=NGINX).headers["ETag"]

    answer = app.get(link, headers={"If-None-Match": etag}, extra_environ=NGINX)

    assert answer.status_int == 304
    assert "X-Accel-Redirect" not in answer.headers


def test_a_range_out_of_the_content_is_answered_by_the_service(app, link):
    answer = app.get(link, headers={"Range": "bytes=1000-"}, extra_environ=NGINX, status=416)

    assert answer.headers["Content-Range"] == f"bytes */{len(ATTACHMENT)}"


def test_a_plain_range_is_sent_by_nginx(app, link):
    for header in ["bytes=2-5", "bytes=2-", "bytes=-4"]:
        assert "X-Accel-Redirect" in app.get(link, headers={"Range": header}, extra_environ=NGINX).headers, header


def test_a_range_that_nginx_may_handle_differently_is_sent_by_the_service(app, link):
    for header, status in [
        ("bytes=0-99999999999999999999", 206),
        ("bytes=-99999999999999999999", 206),
        ("bytes=0-1,", 206),
        ("bytes =0-1", 206),
        ("bytes=0-1,3-4", 200),
        ("bytes=5-2", 200),
        ("bytes=5-2,0-1", 200),
        ("bytes=0 - 1", 200),
        ("bytes=abc", 200),
        ("lines=1-2", 200),
    ]:
        behind = app.get(link, headers={"Range": header}, extra_environ=NGINX)

        assert (behind.status_int, "X-Accel-Redirect" in behind.headers) == (status, False), header


@pytest.mark.parametrize("environment", [NGINX, {}], ids=["behind nginx", "alone"])
def test_a_truncated_file_is_not_sent_as_complete(app, link, blob, environment):
    os.truncate(blob, 5)

    assert app.get(link, extra_environ=environment, status=500).json["error_code"] == 7016105


def test_head_is_answered_by_the_service(app, link):
    answer = app.head(link, extra_environ=NGINX)

    assert answer.headers["Content-Length"] == str(len(ATTACHMENT))
    assert "X-Accel-Redirect" not in answer.headers


def test_a_file_that_is_deleted_during_the_check_is_missing(app, link, monkeypatch):
    path = LocalStorage.path

    def vanish(backend, key):
        found = path(backend, key)
        found.unlink()
        return found

    monkeypatch.setattr(LocalStorage, "path", vanish)

    assert app.get(link, extra_environ=NGINX, status=500).json["error_code"] == 7016105


@pytest.mark.parametrize("environment", [NGINX, {}], ids=["behind nginx", "alone"])
def test_missing_bytes_are_logged_as_an_error(app, link, blob, caplog, environment):
    blob.unlink()

    assert app.get(link, extra_environ=environment, status=500).json["error_code"] == 7016105
    assert "are missing" in next(record for record in caplog.records if record.levelno == logging.CRITICAL).message
