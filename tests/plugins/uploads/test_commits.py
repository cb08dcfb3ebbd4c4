"""The commit of an upload: acknowledged when it is stored, tried again after a failure that passes, and told again."""

import hashlib
import threading
from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.db.types import simulated_time
from frepo_core.domain.identity import new_uuid4
from frepo_core.plugins import StorageUnavailable
from support.client import with_settings
from support.tus.client import Tus

CONTENT = b"-- PostgreSQL database dump\nselect 1;\n" * 100
SIZE = len(CONTENT)
DIGEST = hashlib.sha256(CONTENT).hexdigest()
REQUIRED = {"Upload-Commit": "required"}


@pytest.fixture
def service_class(services):
    """The class of the facade through which the plug-in stores a version."""
    return type(services.contexts["uploads"].service)


@pytest.fixture
def failing(service_class, monkeypatch):
    """Let the first commit fail as if the storage did not answer."""
    right, failed = service_class.add_version, []

    def add_version(self, *arguments, **more):
        if not failed:
            failed.append(True)
            raise StorageUnavailable("The storage does not answer")
        return right(self, *arguments, **more)

    monkeypatch.setattr(service_class, "add_version", add_version)


@pytest.fixture
def slow(service_class, monkeypatch):
    """Let commits wait until `slow.go` is set; `slow.began` is set when one has begun."""
    right = service_class.add_version

    class Slow:
        began, go = threading.Event(), threading.Event()

    def add_version(self, *arguments, **more):
        Slow.began.set()
        assert Slow.go.wait(30)
        return right(self, *arguments, **more)

    monkeypatch.setattr(service_class, "add_version", add_version)
    yield Slow
    Slow.go.set()


def test_after_a_failure_that_passes_the_last_part_is_sent_again(tus, collection, contents, failing):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    failed = tus.patch(path, 10, CONTENT[10:])
    offset = tus.offset(path)
    again = tus.patch(path, 10, CONTENT[10:])

    assert (503, 10, 204) == (failed.status_int, offset, again.status_int)
    assert [CONTENT] == contents()


def test_another_last_part_after_a_failure_is_what_is_stored(tus, collection, contents, failing):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    other = CONTENT[10:-1] + b"!"
    tus.patch(path, 10, CONTENT[10:])
    tus.patch(path, 10, other)

    assert [CONTENT[:10] + other] == contents()


def test_a_failure_of_the_creation_with_the_whole_content_leaves_an_upload(tus, collection, contents, failing):
    answer = tus.post(SIZE, CONTENT, collection=collection)
    path = answer.location.removeprefix("http://localhost:80")

    assert (201, "0") == (answer.status_int, answer.headers["Upload-Offset"])
    assert 204 == tus.patch(path, 0, CONTENT).status_int
    assert [CONTENT] == contents()


def test_while_it_is_stored_head_and_patch_are_told_to_wait(tus, collection, slow):
    path = tus.create(SIZE, collection=collection)
    answers = []
    sender = threading.Thread(target=lambda: answers.append(tus.patch(path, 0, CONTENT)))
    sender.start()
    assert slow.began.wait(30)
    head, patch, end = tus.head(path), tus.patch(path, 0, CONTENT), tus.delete(path)
    slow.go.set()
    sender.join()

    assert [423, 423, 423, 204] == [answer.status_int for answer in (head, patch, end, *answers)]
    assert head.headers["Retry-After"]
    assert SIZE == tus.offset(path)


def test_an_empty_part_at_the_end_repeats_the_outcome(tus, collection, contents):
    path = tus.create(SIZE, collection=collection)
    first, again = tus.patch(path, 0, CONTENT), tus.patch(path, SIZE, b"")

    assert (204, str(SIZE)) == (again.status_int, again.headers["Upload-Offset"])
    assert first.headers["Content-Location"] == again.headers["Content-Location"]
    assert [CONTENT] == contents()


def test_bytes_after_the_end_are_refused(tus, collection):
    path = tus.create(SIZE, collection=collection)
    tus.patch(path, 0, CONTENT)

    assert 413 == tus.patch(path, SIZE, b"a").status_int


def test_the_full_answer_is_that_of_an_ordinary_upload(tus, collection, root):
    path = tus.create(SIZE, collection=collection)
    tus.patch(path, 0, CONTENT)
    shown = tus.show(path)

    assert ("committed", SIZE, None) == (shown["state"], shown["offset"], shown["error"])
    full = root.get(f"/api/v1/collections/{collection}/versions/v1").json
    assert shown["version"] == {name: full[name] for name in shown["version"]}


def test_a_refused_content_ends_the_upload(tus, root, collection, contents):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    change = {"limits": {"version_size": 100, "total_size": 1000}}
    assert 200 == root.call("PATCH", f"/api/v1/collections/{collection}", json=change).status_int
    refused = tus.patch(path, 10, CONTENT[10:])
    shown = tus.show(path)

    assert (413, 410, []) == (refused.status_int, tus.head(path).status_int, contents())
    assert ("failed", refused.json["code"]) == (shown["state"], shown["error"]["code"])


def test_a_deleted_collection_is_told_at_the_next_part(tus, root, collection):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    root.delete(f"/api/v1/collections/{collection}")

    assert 404 == tus.patch(path, 10, CONTENT[10:]).status_int


def test_a_commit_that_is_required_is_asked_for(tus, collection, contents):
    path = tus.create(SIZE, collection=collection, headers=REQUIRED)
    tus.patch(path, 0, CONTENT)
    before = (tus.offset(path), contents(), tus.show(path)["state"])
    done = tus.commit(path, sha256=DIGEST, size=SIZE, exit_statuses=[0, 0])
    again = tus.commit(path, sha256=DIGEST, size=SIZE, exit_statuses=[0, 0])

    assert (SIZE, [], "complete") == before
    assert (200, "committed", [CONTENT]) == (done.status_int, done.json["state"], contents())
    assert done.json == again.json


def test_the_run_is_recorded_as_the_client_tells_it(tus, root, collection):
    path = tus.create(SIZE, CONTENT, collection=collection, headers=REQUIRED)
    told = {
        "exit_statuses": [0, 0],
        "started_at": "2026-11-26T02:00:00+01:00",
        "seconds": 7,
        "error_output": "\x1b[31mpg_dump: warning\x1b[0m",
        "host": "db1",
        "client": "frepo-client/0.1.0",
    }
    check = {"outcome": "broken", "message": "The last line is missing"}

    done = tus.commit(path, **told, check=check)

    (run,) = root.get(f"/api/v1/collections/{collection}/runs").json["items"]
    assert told | {"started_at": "2026-11-26T01:00:00Z", "error_output": "pg_dump: warning"} == {
        key: run[key] for key in told
    }
    version = done.json["version"]
    assert ("ok", 1, "broken", True) == (run["outcome"], run["version"], version["verdict"], version["quarantined"])


def test_an_upload_without_a_length_ends_with_its_commit(tus, collection, contents):
    path = tus.create(None, CONTENT, collection=collection, headers=REQUIRED)
    wrong = tus.commit(path, size=SIZE + 1)

    assert 409 == wrong.status_int
    assert 200 == tus.commit(path, size=SIZE).status_int
    assert [CONTENT] == contents()


def test_an_upload_that_is_not_complete_is_not_stored(tus, collection, contents):
    path = tus.create(SIZE, CONTENT[:10], collection=collection, headers=REQUIRED)

    assert (409, []) == (tus.commit(path).status_int, contents())
    assert 10 == tus.offset(path)


@pytest.mark.parametrize("sent", [CONTENT, CONTENT[:10]])
def test_a_command_that_failed_stores_nothing_and_is_recorded(tus, root, collection, contents, sent):
    path = tus.create(SIZE, sent, collection=collection, headers=REQUIRED)
    answer, again = tus.commit(path, exit_statuses=[1, 0]), tus.commit(path, exit_statuses=[1, 0])
    (run,) = root.get(f"/api/v1/collections/{collection}/runs").json["items"]

    assert (200, "failed", []) == (answer.status_int, answer.json["state"], contents())
    assert ("failed", [1, 0], [1, 0]) == (run["outcome"], run["exit_statuses"], answer.json["exit_statuses"])
    assert answer.json == again.json


@pytest.mark.parametrize("claims", [{"sha256": "0" * 64}, {"size": SIZE + 1}])
def test_another_digest_or_size_stores_nothing_and_is_recorded(tus, root, collection, contents, claims):
    path = tus.create(SIZE, CONTENT, collection=collection, headers=REQUIRED)
    answer = tus.commit(path, exit_statuses=[0], **claims)
    runs = root.get(f"/api/v1/collections/{collection}/runs").json["items"]

    assert (400, 410, []) == (answer.status_int, tus.head(path).status_int, contents())
    assert ["failed"] == [run["outcome"] for run in runs]


def test_a_long_commit_is_accepted_and_asked_for_again(tus, collection, slow, monkeypatch):
    monkeypatch.setattr("frepo_uploads.web.views.COMMIT_SECONDS", 0.01)
    path = tus.create(SIZE, CONTENT, collection=collection, headers=REQUIRED)
    accepted = tus.commit(path)
    slow.go.set()
    monkeypatch.setattr("frepo_uploads.web.views.COMMIT_SECONDS", 30)

    assert (202, "committing", True) == (
        accepted.status_int,
        accepted.json["state"],
        "Retry-After" in accepted.headers,
    )
    assert "committed" == tus.commit(path).json["state"]


def test_another_token_learns_nothing_of_an_upload(app, make_token, tus, admin_tus, collection):
    from frepo_core.domain.roles import Role

    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    other = Tus(app, make_token(Role.UPLOAD_VERSIONS))

    for ask in (other.head, other.delete, lambda path: other.patch(path, 10, b"a"), other.commit):
        assert 404 == ask(path).status_int
    assert 404 == admin_tus.head(path).status_int
    assert [] == other.call("GET", "/api/v1/uploads").json["items"]
    assert 10 == tus.offset(path)


def test_a_token_that_replaces_another_continues_its_uploads(app, root, services, tus, collection, contents):
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    fingerprint = services.tokens.fingerprint(tus.token)
    rotated = root.call("POST", f"/api/v1/tokens/{fingerprint}/rotate", json={}).json
    successor = Tus(app, rotated["secret"])

    assert 10 == successor.offset(path)
    assert 204 == successor.patch(path, 10, CONTENT[10:]).status_int
    assert [CONTENT] == contents()


def test_no_other_token_continues_what_an_expired_one_has_begun(app, services, tus, collection):
    """The address of an upload is in logs: it alone opens nothing."""
    end = utc_now() + timedelta(hours=1)
    services.token_changes.edit(services.tokens.fingerprint(tus.token), {"expires_at": end})
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    unknown = Tus(app, new_uuid4())

    with simulated_time(end + timedelta(minutes=1)):
        assert 1 == len(services.tokens.clear_expired())
        assert 10 == tus.offset(path)
        assert (401, 401) == (unknown.head(path).status_int, unknown.patch(path, 10, CONTENT[10:]).status_int)


@pytest.mark.parametrize("is_cleared", [False, True])
@pytest.mark.parametrize("act", ["rotate", "edit"])
def test_a_token_that_somebody_ends_early_continues_nothing(app, root, services, tus, collection, act, is_cleared):
    """It may be stolen. What it has made by replacing itself ends with it, and the new one of a rotation goes on."""
    path = tus.create(SIZE, CONTENT[:10], collection=collection)
    thief = Tus(app, tus.call("POST", "/api/v1/tokens/self/rotate", json={}).json["secret"])
    fingerprint, end = services.tokens.fingerprint(tus.token), utc_now() + timedelta(seconds=30)
    assert 10 == thief.offset(path)
    if act == "rotate":
        done = root.post(f"/api/v1/tokens/{fingerprint}/rotate", {"overlap": "PT0S"})
    else:
        done = root.call("PATCH", f"/api/v1/tokens/{fingerprint}", json={"expires_at": end.isoformat()})

    with simulated_time(end + timedelta(seconds=1)):
        if is_cleared:
            services.tokens.clear_expired()
        for token in (tus, thief):
            assert (401, 401) == (token.head(path).status_int, token.patch(path, 10, CONTENT[10:]).status_int)
        if act == "rotate":
            assert 204 == Tus(app, done.json["secret"]).patch(path, 10, CONTENT[10:]).status_int


@with_settings(uploads__max_open="2")
def test_a_token_has_few_open_uploads(tus, collection):
    paths = [tus.create(SIZE, collection=collection) for _ in range(2)]
    refused = tus.post(SIZE, collection=collection)
    tus.delete(paths[0])

    assert (429, True) == (refused.status_int, "Retry-After" in refused.headers)
    assert 201 == tus.post(SIZE, collection=collection).status_int


@with_settings(uploads__max_total="40KB")
def test_what_arrives_of_an_upload_without_a_length_takes_room(tus, collection):
    """A token has a quarter."""
    first, second = (tus.create(None, collection=collection) for _ in range(2))
    taken = [tus.patch(first, 0, b"a" * 6000), tus.patch(second, 0, b"a" * 3000)]
    refused = [
        tus.patch(first, 6000, b"a" * 3000),
        tus.patch(second, 3000, b"a" * 3000),
        tus.patch(second, 3000, b"a", {"Upload-Length": "9000"}),
        tus.post(3000, collection=collection),
        tus.post(None, b"a" * 3000, collection=collection),
    ]

    assert [204, 204] == [answer.status_int for answer in taken]
    assert [507] * 5 == [answer.status_int for answer in refused]
    assert 6000 == tus.offset(first)
    assert 204 == tus.patch(second, 3000, b"a" * 500, {"Upload-Length": "3900"}).status_int


def test_an_upload_without_a_length_has_the_limit_for_one_version(tus, root, collection):
    root.call("PATCH", f"/api/v1/collections/{collection}", json={"limits": {"version_size": 100, "total_size": 1000}})
    path = tus.create(None, b"a" * 90, collection=collection)

    assert 413 == tus.patch(path, 90, b"a" * 11).status_int
    assert 413 == tus.patch(path, 90, b"a" * 500).status_int
    assert 204 == tus.patch(path, 90, b"a" * 10).status_int


@with_settings(uploads__max_total="40KB")
def test_an_announced_length_takes_room_and_the_collection_is_full_without_it(tus, root, collection):
    tus.create(6000, collection=collection)

    assert (507, 201) == (
        tus.post(6000, collection=collection).status_int,
        tus.post(3000, collection=collection).status_int,
    )
    assert "full" == root.get(f"/api/v1/collections/{collection}").json["state"]
