"""Uploads in parts: creation, HEAD, PATCH, DELETE and OPTIONS, as tus 1.0 defines them."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_uploads import sessions
from support.client import with_settings
from support.tus.client import UPLOADS, checksum

CONTENT = b"-- PostgreSQL database dump\nselect 1;\n" * 100
SIZE = len(CONTENT)


def test_an_upload_in_parts_becomes_a_version(tus, collection, contents):
    path = tus.create(SIZE, collection=collection)
    first = tus.patch(path, 0, CONTENT[:1000])
    between = tus.offset(path)
    last = tus.patch(path, 1000, CONTENT[1000:])

    assert (204, "1000", 1000) == (first.status_int, first.headers["Upload-Offset"], between)
    assert (204, str(SIZE)) == (last.status_int, last.headers["Upload-Offset"])
    assert f"http://localhost:80/api/v1/collections/{collection}/versions/v1" == last.headers["Content-Location"]
    assert [CONTENT] == contents()


def test_every_answer_names_the_version_of_the_protocol(tus, collection):
    path = tus.create(SIZE, collection=collection)
    answers = [
        tus.head(path),
        tus.patch(path, 5, b"a"),
        tus.patch(path, 0, b"a", {"Upload-Checksum": "md5 a"}),
        tus.call("PUT", path),
        tus.head(f"{UPLOADS}/none"),
        tus.delete(path),
        tus.head(path),
    ]

    assert [200, 409, 400, 405, 404, 204, 410] == [answer.status_int for answer in answers]
    assert {"1.0.0"} == {answer.headers["Tus-Resumable"] for answer in answers}


def test_another_version_of_the_protocol_is_refused_and_told(tus, collection):
    answer = tus.call("POST", UPLOADS, {"Tus-Resumable": "0.2.2", "Upload-Length": "5"})

    assert (412, "1.0.0") == (answer.status_int, answer.headers["Tus-Version"])


def test_options_tell_what_the_service_can_do_without_a_token(app):
    answer = app.options(UPLOADS)

    assert (204, "1.0.0", "sha256,sha1") == (
        answer.status_int,
        answer.headers["Tus-Version"],
        answer.headers["Tus-Checksum-Algorithm"],
    )
    assert "creation-defer-length" in answer.headers["Tus-Extension"].split(",")


def test_head_says_what_is_there_and_how_long(tus, collection):
    path = tus.create(SIZE, collection=collection, note="x")
    answer = tus.head(path)

    assert ("0", str(SIZE), "no-store") == tuple(
        answer.headers[name] for name in ("Upload-Offset", "Upload-Length", "Cache-Control")
    )
    assert answer.headers["Upload-Expires"].endswith("GMT")
    assert "note eA==" in answer.headers["Upload-Metadata"].split(",")


def test_a_creation_with_the_same_key_is_the_same_upload_until_it_has_bytes(tus, collection):
    def create(key):
        return tus.create(SIZE, headers={"Idempotency-Key": key}, collection=collection)

    path = create("a")
    again, other = create("a"), create("b")
    tus.patch(path, 0, CONTENT[:10])

    assert (path, True, True) == (again, other != path, create("a") != path)


def test_a_length_may_be_said_later(tus, collection, contents):
    path = tus.create(None, collection=collection)
    before = tus.head(path)
    tus.patch(path, 0, CONTENT[:10])
    tus.patch(path, 10, CONTENT[10:], {"Upload-Length": str(SIZE)})

    assert ("1", None) == (before.headers["Upload-Defer-Length"], before.headers.get("Upload-Length"))
    assert [CONTENT] == contents()


def test_a_length_that_was_said_cannot_change(tus, collection):
    path = tus.create(SIZE, collection=collection)

    assert 400 == tus.patch(path, 0, b"abc", {"Upload-Length": str(SIZE + 1)}).status_int
    assert 0 == tus.offset(path)


def test_an_upload_may_come_with_its_creation(tus, collection, contents):
    answer = tus.post(SIZE, CONTENT[:7], collection=collection)
    whole = tus.post(SIZE, CONTENT, collection=collection)

    assert (201, "7") == (answer.status_int, answer.headers["Upload-Offset"])
    assert (201, str(SIZE)) == (whole.status_int, whole.headers["Upload-Offset"])
    assert [CONTENT] == contents()


@pytest.mark.parametrize("algorithm", ["sha256", "sha1"])
def test_a_part_with_another_checksum_is_discarded(tus, collection, contents, algorithm):
    path = tus.create(SIZE, collection=collection)
    wrong = tus.patch(path, 0, CONTENT[:10], {"Upload-Checksum": checksum(b"other", algorithm)})
    offset = tus.offset(path)
    right = tus.patch(path, 0, CONTENT, {"Upload-Checksum": checksum(CONTENT, algorithm)})

    assert (460, 0, 204) == (wrong.status_int, offset, right.status_int)
    assert [CONTENT] == contents()


def test_what_has_arrived_stays_if_the_connection_breaks(tus, collection, contents):
    path = tus.create(SIZE, collection=collection)
    tus.break_off(path, 0, CONTENT[:1000], announced=SIZE)

    assert 1000 == tus.offset(path)
    assert 204 == tus.patch(path, 1000, CONTENT[1000:]).status_int
    assert [CONTENT] == contents()


def test_a_part_with_a_checksum_that_breaks_off_is_discarded(tus, collection):
    path = tus.create(SIZE, collection=collection)
    tus.break_off(path, 0, CONTENT[:1000], announced=SIZE, headers={"Upload-Checksum": checksum(CONTENT)})

    assert 0 == tus.offset(path)


def test_a_part_that_begins_elsewhere_is_refused(tus, collection):
    for offset in [1, 9, 11, SIZE]:
        path = tus.create(SIZE, CONTENT[:10], collection=collection)
        answer = tus.patch(path, offset, b"abc")

        assert (409, {"offset": 10}) == (answer.status_int, answer.json["context"])
        assert 10 == tus.offset(path), offset


def test_more_than_the_length_is_refused(tus, collection):
    path = tus.create(10, collection=collection)

    assert 413 == tus.patch(path, 0, b"12345678901").status_int
    assert 0 == tus.offset(path)


def test_an_aborted_upload_is_gone(tus, collection, contents, events, tmp_path):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    answer = tus.delete(path)

    assert (204, 410, 410) == (answer.status_int, tus.head(path).status_int, tus.patch(path, 10, b"a").status_int)
    assert [] == contents()
    assert [("uploads.aborted", 10)] == [(kind, data["received"]) for kind, data in events()]
    assert [] == list((tmp_path / "uploads").glob("*.part"))


def test_uploads_that_a_token_ends_are_one_event_a_minute(tus, collection, events, monkeypatch):
    """A token can begin and end uploads without an end."""
    moment = datetime(2030, 1, 1, tzinfo=UTC)
    monkeypatch.setattr(sessions, "now", lambda: moment)
    for _ in range(3):
        tus.delete(tus.create(SIZE, CONTENT[:10], collection=collection))
    assert [("uploads.aborted", 1)] == [(kind, data["count"]) for kind, data in events()]

    moment += timedelta(minutes=1)
    tus.delete(tus.create(SIZE, CONTENT[:10], collection=collection))

    assert [1, 3] == [data["count"] for _, data in events()]


def test_the_method_may_be_in_a_header(tus, collection, contents):
    path = tus.create(SIZE, collection=collection)
    headers = {
        "X-HTTP-Method-Override": "PATCH",
        "Upload-Offset": "0",
        "Content-Type": "application/offset+octet-stream",
    }
    answer = tus.call("POST", path, headers, body=CONTENT)

    assert (204, [CONTENT]) == (answer.status_int, contents())


def test_unknown_metadata_is_ignored(tus, collection):
    path = tus.create(SIZE, collection=collection, relativePath="x", colour="red")

    assert "colour" not in tus.head(path).headers["Upload-Metadata"]


def test_what_can_never_be_stored_is_refused_at_the_creation(tus, collection):
    for size, metadata, status in [
        (5, {"note": "x"}, 400),
        (0, {"collection": collection}, 400),
        (5, {"collection": "00000000-0000-4000-8000-000000000000"}, 404),
    ]:
        assert status == tus.post(size, **metadata).status_int, metadata


def test_a_token_that_may_not_upload_is_refused_at_the_creation(app, make_token, collection):
    from frepo_core.domain.roles import Role
    from support.tus.client import Tus

    assert 403 == Tus(app, make_token(Role.LIST_VERSIONS)).post(5, collection=collection).status_int
    assert 401 == Tus(app, "").post(5, collection=collection).status_int


def test_a_file_may_be_uploaded_in_parts(admin_tus, root):
    path = admin_tus.create(SIZE, filename="dump.sql", tags="a,b", public="true")
    last = admin_tus.patch(path, 0, CONTENT)
    file = admin_tus.show(path)["file"]

    assert 204 == last.status_int
    assert (SIZE, ["a", "b"], True) == (file["size"], sorted(file["tags"]), file["public"])
    assert CONTENT == root.download(file["name"]).body


@with_settings(read_only="true")
def test_a_service_that_is_read_only_takes_no_upload(tus, services):
    assert 503 == tus.post(5, filename="a.txt").status_int


def test_an_upload_that_was_silent_and_sent_again_is_a_leftover(monkeypatch, tus, root, collection):
    monkeypatch.setattr("frepo_uploads.session.SILENCE", timedelta(0))
    given_up, slow = (tus.create(SIZE, collection=collection) for _ in range(2))
    tus.patch(given_up, 0, CONTENT[:1000])
    tus.patch(slow, 0, CONTENT[:1000])
    for again in (CONTENT, CONTENT):
        tus.patch(tus.create(SIZE, collection=collection), 0, again)

    tus.patch(given_up, 1000, CONTENT[1000:])
    tus.patch(slow, 1000, b"x" * (SIZE - 1000))

    items = root.get(f"/api/v1/collections/{collection}/versions").json["items"]
    assert {1: None, 2: None, 3: "overtaken", 4: None} == {one["number"]: one["quarantine_reason"] for one in items}
