"""Large forms and large base64 bodies are handled like small ones."""

import base64
import os

import pytest

from support.wire import eventually, field, form, temporary_files, traces

LARGE = 20_000_003  # in a file, and hashed while it arrives


@pytest.fixture(scope="module")
def content():
    return os.urandom(LARGE)


@pytest.fixture
def before(service):
    """The stored state before the test; large files of the previous test may still be being deleted."""
    eventually([], lambda: temporary_files(service))
    return traces(service)


def encoded(content):
    return base64.b64encode(content)


def multipart_head(body):
    return f"Content-Length: {len(body)}", "Content-Type: multipart/form-data; boundary=XX"


def base64_query(post, body):
    return post("a.bin&encoding=base64", f"Content-Length: {len(body)}")


@pytest.mark.costly
@pytest.mark.parametrize("how", ["form", "base64"])
def test_a_client_that_disconnects_within_a_form_leaves_nothing(service, wire, post, before, content, how):
    body = form(field("file", content, "a.bin")) if how == "form" else encoded(content)
    wire.send(post("a.bin", *multipart_head(body)) if how == "form" else base64_query(post, body), body[:-10])
    wire.close()

    assert before == eventually(before, lambda: traces(service))


def test_fields_around_a_large_file_are_used(client, content):
    parts = field("tags[]", b"x"), field("other", content, "sent.bin"), field("fileName", b"named.bin")
    reply = client.multipart(form(*parts))

    assert ("named.bin", content) == (reply.json["requested_filename"], client.content(reply))


def test_two_large_files_are_refused_with_both_names(client, content):
    reply = client.multipart(form(field("other", content[::-1], "other.bin"), field("file", content, "a.bin")))

    assert (400, True) == (reply.status, "'other.bin' and 'a.bin'" in reply.json["status"])


def test_bytes_after_a_large_form_are_not_stored(client, content):
    body = form(field("file", content, "a.bin")) + content

    assert content == client.content(client.multipart(body))


def test_a_large_broken_form_is_refused_and_leaves_nothing(service, client, before, content):
    body = form(field("file", content, "a.bin"))
    reply = client.multipart(body[: LARGE // 2] + b"\r\n--XX\n" + body[LARGE // 2 :], fileName="a.bin")

    assert (400, 400) == (reply.status, reply.json["error_code"])
    assert before == eventually(before, lambda: traces(service))


def test_large_base64_is_decoded(client, content):
    assert content == client.content(client.upload(base64.encodebytes(content), encoding="base64"))


def test_large_bad_base64_is_refused_and_leaves_nothing(service, client, before, content):
    text = encoded(content)
    reply = client.upload(text[: 9 << 20] + b"\xff" + text[(9 << 20) + 1 :], encoding="base64")

    assert (400, ["form.encoding"]) == (reply.status, list(reply.json["fields"]))
    assert before == eventually(before, lambda: traces(service))


@pytest.mark.costly
def test_a_large_body_of_blanks_is_empty(client):
    assert 60003 == client.upload(b"\n" * LARGE, encoding="base64").json["error_code"]


def test_base64_in_a_large_form_is_decoded(client, content):
    body = form(field("file", encoded(content), "a.bin"))

    assert content == client.content(client.multipart(body, encoding="base64"))


def test_content_that_only_looks_like_a_form_is_stored(client, content):
    text = encoded(content)
    answer = client.request("POST", f"/repository/collection/{client.collection()}/backup?encoding=base64", text)

    assert len(text) == answer.json["version"]["size"]
