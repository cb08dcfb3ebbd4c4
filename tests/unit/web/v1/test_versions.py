"""Versions in /api/v1: uploads, pages, selectors, content, links and checks."""

import hashlib
from datetime import UTC, datetime

import pytest

from frepo_core.db.models import Version
from frepo_core.domain.signatures import repr_digest
from support.client import follow

COLLECTIONS = "/api/v1/collections"


@pytest.fixture
def path(collection):
    return f"{COLLECTIONS}/{collection}/versions"


@pytest.fixture
def send(root, path):
    """Upload: `send(b"content", If_Match="v1")`."""

    def send(content=b"one", method="PUT", **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return root.call(method, path, body=content, headers=named)

    return send


@pytest.fixture
def dated(services, send, path):
    """Three versions, of the mornings of the first three days of 2026."""
    for content in (b"one", b"two", b"three"):
        send(content)
    with services.database.engine.begin() as connection:
        for number in (1, 2, 3):
            at = datetime(2026, 1, number, 6, 30, 15, 500_000, UTC)
            connection.execute(Version.__table__.update().where(Version.number == number).values(created_at=at))
    return path


@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_an_upload_is_answered_with_the_new_version(send, root, path, method):
    answer = send(b"one", method)

    assert (201, f"http://localhost:80{path}/v1") == (answer.status_int, answer.headers["Location"])
    assert repr_digest(hashlib.sha256(b"one").hexdigest()) == answer.headers["Repr-Digest"]
    assert (1, 3, False, False) == tuple(answer.json[name] for name in ("number", "size", "suspicious", "damaged"))
    assert answer.json | {"same_content_in": []} == root.get(f"{path}/latest").json


def test_an_upload_may_be_a_form(root, path):
    answer = root.send_form(("file", "dump.sql", b"from a form"), path=path)

    assert (201, 11) == (answer.status_int, answer.json["size"])


def test_a_repeated_upload_gets_the_first_answer(send, root, path):
    first, again = send(Idempotency_Key="k"), send(Idempotency_Key="k")

    assert (first.status_int, first.json, first.headers["Location"]) == (
        again.status_int,
        again.json,
        again.headers["Location"],
    )
    assert 1 == len(root.get(path).json["items"])
    assert (422, 4016) == ((other := send(b"two", Idempotency_Key="k")).status_int, other.json["code"])


def test_a_repeated_upload_says_that_its_version_was_removed(send, root, path):
    first = send(Idempotency_Key="k").json
    root.delete(f"{path}/v1")

    again = send(Idempotency_Key="k")

    assert (201, first | {"removed": True}) == (again.status_int, again.json)
    assert [] == root.get(path).json["items"]


def test_a_key_of_the_first_api_is_another_key(send, root, collection):
    root.push(collection, b"one", headers={"Idempotency-Key": "k"})

    assert (201, 2) == ((answer := send(Idempotency_Key="k")).status_int, answer.json["number"])


def test_an_upload_that_does_not_match_or_is_empty_is_refused(send, root, path):
    for headers, status, code in [
        ({"If_Match": "v7"}, 412, 4015),
        ({"Repr_Digest": "sha-256=:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=:"}, 400, 60007),
        ({"Content_Digest": "nonsense"}, 400, 400),
        ({"If_Match": "x"}, 400, 400),
    ]:
        answer = send(**headers)
        assert (status, code) == (answer.status_int, answer.json["code"])
        assert [] == root.get(path).json["items"], headers

    assert (400, 60003) == ((answer := send(b"")).status_int, answer.json["code"])


def test_a_version_above_the_limit_is_too_large(root, collection, send):
    root.call("PATCH", f"{COLLECTIONS}/{collection}", json={"limits": {"version_size": 2}})

    answer = send(b"three")

    assert (413, 4006, ["content"]) == (
        answer.status_int,
        answer.json["code"],
        [wrong["field"] for wrong in answer.json["errors"]],
    )
    assert "limits.version_size" in answer.json["detail"]


def test_pages(root, dated):
    for sort, expected in [("", [[3, 2], [1]]), ("number", [[1, 2], [3]])]:
        first = root.get(dated, {"limit": 2, **({"sort": sort} if sort else {})}).json
        more = root.get(dated, {"limit": 2, "cursor": first["next"], **({"sort": sort} if sort else {})}).json

        assert expected == [[version["number"] for version in page["items"]] for page in (first, more)]
        assert more["next"] is None, sort


def test_a_version_is_found_by(root, dated):
    for selector, number in [
        ("latest", 3),
        ("recent", 3),
        ("first", 1),
        ("v2", 2),
        ("2026-01-02", 2),
        ("2026-01-02T06:30:15Z", 2),
        ("2026-01-02T07:30:15+01:00", 2),
        ("2026-01-02T06:30:15.5Z", 2),
        ("2026-01-02T06:30:15.4Z", 1),
        ("2026-01-02T06:30:14Z", 1),
        ("2030-01-01", 3),
    ]:
        assert number == root.get(f"{dated}/{selector}").json["number"]


def test_a_version_is_found_by_its_id(root, dated):
    one = root.get(f"{dated}/v2").json

    assert one == root.get(f"{dated}/{one['id']}").json


def test_what_selects_no_version_is_a_404_and_named(root, dated):
    for selector, detail in [
        ("v9", "has no version 'v9'"),
        ("2025-12-31", "no version at or before 2025-12-31"),
        ("2026-02-31", "no time that exists"),
        ("9999-12-31T23:59:59Z+", "it is not one of: v<number>"),
        ("newest", "it is not one of: v<number>, latest"),
    ]:
        answer = root.get(f"{dated}/{selector}")

        assert 404 == answer.status_int, selector
        assert detail in answer.json["detail"]


def test_the_content_is_sent_without_a_redirect(root, dated):
    answer = root.get(f"{dated}/2026-01-03/content")

    assert (200, b"three") == (answer.status_int, answer.body)
    assert "5" == root.head(f"{dated}/latest/content").headers["Content-Length"]
    assert (206, b"hre") == (
        (part := root.get(f"{dated}/v3/content", headers={"Range": "bytes=1-3"})).status_int,
        part.body,
    )
    assert 304 == root.get(f"{dated}/v3/content", headers={"If-None-Match": answer.headers["ETag"]}).status_int
    assert 416 == root.get(f"{dated}/v3/content", headers={"Range": "bytes=9-"}).status_int


def test_deleting_a_version(root, dated):
    assert 204 == root.delete(f"{dated}/first").status_int
    assert 404 == root.get(f"{dated}/v1").status_int


def test_a_version_in_its_retention_is_not_deleted(root, collection, send, path):
    root.call("PATCH", f"{COLLECTIONS}/{collection}", json={"guards": {"min_retention": "P1D"}})
    send()

    assert (409, 4012) == ((answer := root.delete(f"{path}/v1")).status_int, answer.json["code"])


def test_a_link_works_without_a_token(root, anonymous, dated):
    assert b"three" == follow(anonymous, root.post(f"{dated}/v3/link", {"expires_in": "PT1M"}).json["url"]).body
    refused = root.post(f"{dated}/v3/link", {"expires_in": "PT11M"})
    assert (400, "expires_in") == (refused.status_int, refused.json["errors"][0]["field"])
    assert "at most ten minutes" in refused.json["detail"]


def test_a_client_records_the_outcome_of_a_restore(root, dated):
    made = root.post(f"{dated}/v2/checks", {"outcome": "good", "message": "restored", "details": {"seconds": 12}})

    assert 201 == made.status_int
    shown = root.get(made.headers["Location"]).json
    assert {"items": [made.json], "next": None} == shown
    assert ("restore (client)", "good", {"seconds": 12}) == tuple(
        made.json[name] for name in ("name", "outcome", "details")
    )


@pytest.mark.databases
def test_the_checks_of_all_versions_are_listed_the_newest_version_first(root, dated):
    for version, outcome in (("v1", "broken"), ("v3", "good"), ("v3", "broken")):
        name = "restore" if outcome == "good" else "gunzip"
        root.post(f"{dated}/{version}/checks", {"name": name, "outcome": outcome})
    path = f"{dated.removesuffix('/versions')}/checks"

    shown = root.get(path).json["items"]
    first = root.get(path, {"limit": 1}).json
    second = root.get(path, {"limit": 1, "cursor": first["next"]}).json

    assert [(3, "restore (client)"), (3, "gunzip"), (1, "gunzip")] == [
        (check["version"], check["name"]) for check in shown
    ]
    assert shown[:2] == first["items"] + second["items"]
    assert [3, 1] == [check["version"] for check in root.get(path, {"outcome": "broken"}).json["items"]]
