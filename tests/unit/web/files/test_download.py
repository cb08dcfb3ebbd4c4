"""HTTP API, 2.4: downloading files: headers and permissions."""

import email.utils
import hashlib

import pytest

from frepo_core.domain.roles import Role
from support.answers import CLOSED
from support.samples import DOCUMENTS, HTML, IMAGES, PDF, PNG, SVG, VIDEOS

CONTENT = b"0123456789"
ETAG = f'"{hashlib.sha256(CONTENT).hexdigest()}"'
ANCIENT, FUTURE = "Mon, 01 Jan 2001 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"


@pytest.fixture
def name(uploader):
    return uploader.upload(CONTENT, "a b.txt").json["filename"]


@pytest.fixture
def secret(uploader):
    return uploader.upload(CONTENT, "a.txt", password="pass word \xfc-5ecre7").json["filename"]


def test_the_headers_of_a_download(anonymous, name):
    for prefix in ["/repository/file/", "/public/download/"]:
        for method in ["GET", "HEAD"]:
            answer = anonymous.call(method, prefix + name)

            assert answer.status_int == 200, prefix
            assert {
                "Accept-Ranges": "bytes",
                "Cache-Control": "public, max-age=25200, immutable",
                "Content-Disposition": 'inline; filename="a b.txt"',
                "Content-Length": "10",
                "Content-Security-Policy": "sandbox",
                "ETag": ETAG,
                "Repr-Digest": "sha-256=:hNiYd/DUBB77a/kaFvAkjy/Vc+avBcGflr7bn4gveII=:",
                "X-Content-Type-Options": "nosniff",
            }.items() <= dict(answer.headers).items()


def test_a_download_carries_the_content_and_head_none(anonymous, name, services):
    assert anonymous.download(name).body == CONTENT
    assert anonymous.head(f"/repository/file/{name}").body == b""

    answer = anonymous.download(name)
    stored = services.files.find(name).created_at.replace(microsecond=0)
    assert stored == email.utils.parsedate_to_datetime(answer.headers["Last-Modified"])


def test_the_content_type_is_the_detected_one(uploader, anonymous):
    for content, mime in [(PNG, "image/png"), (PDF, "application/pdf"), (b'{"a": 1}', "application/json")]:
        name = uploader.upload(content, "a.html").json["filename"]
        assert anonymous.download(name).headers["Content-Type"] == mime


INLINE = [IMAGES["image/png"], IMAGES["image/gif"], VIDEOS["video/mp4"], PDF, b"plain text"]
ATTACHED = [SVG, HTML, DOCUMENTS["application/json"], DOCUMENTS["text/csv"], b"<?xml version='1.0'?><a/>", bytes(9)]


def test_only_types_that_cannot_run_scripts_are_shown_inline(uploader, anonymous):
    for content, disposition in [(content, "inline") for content in INLINE] + [
        (content, "attachment") for content in ATTACHED
    ]:
        name = uploader.upload(content, "a.png").json["filename"]
        assert anonymous.download(name).headers["Content-Disposition"] == f'{disposition}; filename="a.png"'


def test_an_unknown_file_is_not_found(anonymous):
    answer = anonymous.download("none.txt")

    assert answer.json == {
        "status": "File not found in the storage",
        "error_code": 404,
        "http_code": 404,
        "exit_code": 404,
    }


def test_a_protected_file_is_closed_without_its_password(anonymous, secret):
    for query in [{}, {"password": ""}, {"password": "wrong-5ecre7"}, {"password": "PASS WORD \xfc-5ecre7"}]:
        answer = anonymous.download(secret, query)
        assert (answer.status_int, answer.json["status"], answer.json["error_code"]) == (403, CLOSED, 403), query

    assert anonymous.download(secret, headers={"If-None-Match": ETAG}).status_int == 403


def test_a_protected_file_is_readable_with_its_password_in_the_query_or_a_header(anonymous, secret, uploader):
    answer = anonymous.download(secret, {"password": "pass word \xfc-5ecre7"})
    assert (answer.body, answer.headers["Cache-Control"]) == (CONTENT, "private, no-store")
    header = "pass word \xfc-5ecre7".encode().decode("latin-1")  # UTF-8, as curl sends it
    assert anonymous.download(secret, headers={"X-File-Password": header}).status_int == 200
    name = uploader.upload(password="secret-5ecre7").json["filename"]
    assert anonymous.download(name, headers={"X-File-Password": "secret-5ecre7"}).status_int == 200


def test_only_view_any_file_opens_without_the_password(holder, secret):
    for role in [Role.VIEW_ANY_FILE, Role.ADMINISTRATOR]:
        assert holder(role).download(secret).status_int == 200, role
    roles = set(Role) - {Role.VIEW_ANY_FILE, Role.ADMINISTRATOR}
    assert holder(*roles).download(secret).status_int == 403


def test_missing_bytes_are_a_server_error(anonymous, name, tmp_path, caplog):
    next(path for path in (tmp_path / "storage").rglob("*") if path.is_file()).unlink()
    answer = anonymous.download(name)

    assert (answer.status_int, answer.json["http_code"]) == (500, 500)
    assert "are missing" in caplog.text
