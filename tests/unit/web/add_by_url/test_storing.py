"""HTTP API, 2.2: storing the content of a URL: its name and its bytes."""

import gzip
import hashlib
from pathlib import Path

import pytest

from support.servers.remote import ok


def test_a_url_is_stored_under_the_name_in_its_path(app, add, remote):
    answer = add(f"{remote().origin}/a/hello.txt?x=1#y", tags=["a"], public=True)

    assert answer.json["requested_filename"] == "hello.txt"
    assert app.get(f"/repository/file/{answer.json['filename']}").body == b"content"


def test_known_content_answers_202(add, remote):
    first = add(f"{remote().origin}/a.txt")

    second = add(f"{remote().origin}/b.txt", status=202)

    assert (second.json["id"], second.json["requested_filename"]) == (first.json["id"], "b.txt")


def test_the_name_is_cleaned(add, remote):
    for path, name in [
        ("", "file"),
        ("/", "file"),
        ("/..", "file"),
        ("/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "passwd"),
        ("/a/b/", "b"),
        ("/%C5%BC%C3%B3%C5%82w.tar.gz", "żółw.tar.gz"),
        ("/żółw.txt", "żółw.txt"),
        ("/%20a%20b%20", "a b"),
        ("/a%00b%0d%0ac.txt", "a_b_c.txt"),
        ("/" + "x" * 300 + ".sql.gz", "x" * 193 + ".sql.gz"),
        ("/%ff%fe", "file"),
    ]:
        answer = add(f"{remote().origin}{path}", status="20*")

        assert answer.json["requested_filename"] == name, path


def test_a_missing_or_invalid_url_is_an_error_of_its_field(app, token):
    for body in [{}, {"fileUrl": ""}, {"fileUrl": None}, {"fileUrl": ["x"]}, {"fileUrl": "x" * 9000}]:
        answer = app.post_json("/repository/file/add-by-url", body, headers={"token": token}, status=400)

        assert list(answer.json["fields"]) == ["form.fileUrl"], body


def test_an_empty_content_is_refused(add, remote):
    server = remote({"/x": ok(b"")})

    assert add(f"{server.origin}/x", status=400).json["error_code"] == 60003


def test_an_encoded_answer_is_stored_without_decoding(app, add, remote):
    packed = gzip.compress(b"content")
    server = remote({"/x.gz": ok(packed, "Content-Encoding: gzip")})

    answer = add(f"{server.origin}/x.gz")

    assert app.get(f"/repository/file/{answer.json['filename']}").body == packed
    assert "Accept-Encoding: identity" in server.requests[0]


def test_an_error_of_the_service_is_not_reported_as_one_of_the_remote_server(add, remote, services):
    server = remote({"/x": ok(b"x" * 1_000_000)})
    Path(services.ingest.directory).rmdir()

    assert add(f"{server.origin}/x", status=500).json["error_code"] == 500


def test_a_given_name_is_used(add, remote):
    assert add(f"{remote().origin}/download?id=5", fileName="dump.sql").json["requested_filename"] == "dump.sql"


def test_a_bad_name_is_refused_before_anything_is_fetched(add, remote):
    server = remote()

    answer = add(f"{server.origin}/x", fileName="a/b", status=400)

    assert (list(answer.json["fields"]), server.requests) == (["form.fileName"], [])


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_content_with_the_expected_digest_is_stored(add, remote, change):
    digest = hashlib.sha256(b"content").hexdigest()

    assert add(f"{remote().origin}/x", sha256=change(digest)).json["sha256"] == digest


def test_content_with_another_digest_is_not_stored(add, remote, kept):
    assert (add(f"{remote().origin}/x", sha256="0" * 64, status=400).json["error_code"], kept()) == (60007, 0)
