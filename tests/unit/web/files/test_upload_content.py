"""HTTP API, 2.1: encoding, digests, length and type of an upload's content."""

import base64
import hashlib
from io import BytesIO

from webtest import TestApp

from frepo_core.domain.roles import Role
from support.answers import HELLO, HELLO_DIGEST
from support.client import Client

MD5 = base64.b64encode(hashlib.md5(b"hello").digest()).decode()
OTHER_DIGEST = HELLO_DIGEST.replace("LPJNul", "AAAAAA")


def cut_short():
    """Make the environment of a request whose body is shorter than its Content-Length."""
    return {"wsgi.input": BytesIO(b"hell"), "CONTENT_LENGTH": "5"}


def test_a_content_range_is_refused(uploader):
    answer = uploader.upload(b"lo", headers={"Content-Range": "bytes 3-4/5"})

    assert (answer.status_int, answer.json["error_code"]) == (400, 400)


def test_plain_content_is_stored_unchanged(uploader):
    for encoding in ["", "plain"]:
        assert uploader.upload(b"aGVsbG8=", encoding=encoding).json["size"] == 8, encoding


def test_bad_base64_and_other_encodings_are_refused(uploader):
    for text in [b"aGVsbG8", b"hello!", b"data:text/plain", b"a", b"aGVsbG8==="]:
        assert uploader.upload(text, encoding="base64").status_int == 400, text
    assert uploader.upload(b"data:text/plain;base64,", encoding="base64").json["error_code"] == 60003
    for encoding in ["gzip", "BASE64", "base64 "]:
        assert set(uploader.upload(encoding=encoding).json["fields"]) == {"form.encoding"}, encoding


def test_the_limit_applies_to_decoded_base64(holder):
    assert holder(Role.UPLOAD_ALL, max_file_size=5).upload(b"aGVsbG8=", encoding="base64").status_int == 200


def test_a_correct_digest_in_the_query_is_accepted(uploader):
    for sha256 in [HELLO, HELLO.upper()]:
        assert uploader.upload(sha256=sha256).status_int in {200, 202}, sha256


def test_a_correct_digest_in_a_header_is_accepted(uploader):
    for header, value in [
        ("Repr-Digest", HELLO_DIGEST),
        ("Content-Digest", HELLO_DIGEST),
        ("Content-Digest", f"md5=:{MD5}:, {HELLO_DIGEST}"),
        ("Repr-Digest", "sha-512=:AAAA:"),
        ("Content-MD5", MD5),
    ]:
        assert uploader.upload(headers={header: value}).status_int in {200, 202}, value


def test_a_wrong_digest_is_refused_and_stores_nothing(uploader, services, tmp_path):
    for header, value in [
        ("Repr-Digest", OTHER_DIGEST),
        ("Content-Digest", OTHER_DIGEST),
        ("Content-MD5", base64.b64encode(bytes(16)).decode()),
    ]:
        answer = uploader.upload(headers={header: value})
        assert (answer.status_int, answer.json["error_code"]) == (400, 60007), header

    assert uploader.upload(sha256="0" * 64).json["error_code"] == 60007
    assert [] == [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


def test_an_invalid_digest_is_refused(uploader):
    for sha256 in ["x", "0" * 63, "0" * 65, "g" * 64]:
        assert set(uploader.upload(sha256=sha256).json["fields"]) == {"form.sha256"}, sha256

    for header, value in [
        ("Repr-Digest", "x"),
        ("Content-Digest", "sha-256=:AAAA:"),
        ("Content-MD5", "x"),
        ("Content-MD5", "AAAA"),
    ]:
        answer = uploader.upload(headers={header: value})
        assert (answer.status_int, answer.json["error_code"]) == (400, 400), header


def test_a_digest_is_that_of_the_decoded_content(uploader):
    assert uploader.upload(b"aGVsbG8=", encoding="base64", sha256=HELLO).status_int == 200


def test_a_body_that_ends_early_is_refused_and_stores_nothing(uploader, tmp_path):
    for lint in [True, False]:
        caller = Client(TestApp(uploader.app.app, lint=lint), uploader.token)
        answer = caller.call("POST", "/repository/file/a.txt", environ=cut_short())
        assert (answer.status_int, answer.json["error_code"]) == (400, 400), lint

    for lint in [True, False]:
        caller = Client(TestApp(uploader.app.app, lint=lint), uploader.token)
        caller.call("POST", "/repository/file/a.txt", environ=cut_short())
        assert [] == [path for path in (tmp_path / "storage").rglob("*") if path.is_file()], lint
