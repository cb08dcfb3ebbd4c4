"""What clients find about versions: bounded, and apart from what the service and plug-ins find."""

import json

import pytest
from sqlalchemy import event, func, select

from frepo_core.db.models import Collection, Event
from frepo_core.domain.identity import Actor
from frepo_core.domain.roles import Role
from frepo_core.services.backups.versions.version_checks import NewCheck

KIB = 1 << 10


@pytest.fixture
def version(root, collection, push):
    """The id of a version."""
    push(collection, b"-- a dump")
    return root.get(f"/api/v1/collections/{collection}/versions/v1").json["id"]


@pytest.fixture
def path(collection, version):
    return f"/api/v1/collections/{collection}/versions/v1/checks"


@pytest.fixture
def by_service(services, version):
    """Record a result as a job of the service or of a plug-in does."""

    def record(name, outcome):
        check = NewCheck(name=name, outcome=outcome, message="", details={})
        assert services.late_results.record(version, check, by=Actor(name="system:restore_tests"))

    return record


@pytest.fixture
def outcomes(root, path):
    return lambda: {check["name"]: check["outcome"] for check in root.get(path).json["items"]}


@pytest.fixture
def count_events(services):
    def count():
        with services.database.reading() as session:
            return session.scalar(select(func.count()).where(Event.kind == "version.checked"))

    return count


def refusal(answer):
    """The status and the wrong field of an answer."""
    return answer.status_int, answer.json["errors"][0]["field"]


def test_a_restore_of_a_client_does_not_replace_that_of_the_service(root, path, services, by_service, outcomes):
    by_service("restore", "broken")

    answer = root.post(path, {"name": "restore", "outcome": "good"})

    assert (201, "restore (client)") == (answer.status_int, answer.json["name"])
    assert {"restore": "broken", "restore (client)": "good"} == outcomes()
    with services.database.reading() as session:
        assert "broken" == session.scalar(select(Collection.restore_outcome))
    assert 201 == root.post(path, {"name": "restore (client)", "outcome": "good"}).status_int


def test_a_client_does_not_replace_what_a_plug_in_found_that_is_not_installed_any_more(
    root, path, by_service, outcomes
):
    by_service("virus_scan", "broken")

    assert (400, "name") == refusal(root.post(path, {"name": "virus_scan", "outcome": "good"}))
    assert {"virus_scan": "broken"} == outcomes()


def test_details_have_16_kib_at_most(root, path):
    longest = {"text": "ä" * ((16 * KIB - len('{"text":""}')) // 2)}
    assert 16 * KIB - 1 == len(json.dumps(longest, ensure_ascii=False, separators=(",", ":")).encode())

    assert 201 == root.post(path, {"outcome": "good", "details": longest}).status_int
    longer = root.post(path, {"outcome": "good", "details": {"text": f"{longest['text']}ab"}})

    assert (400, "details") == refusal(longer)
    assert "The details have 1 byte more as JSON than the 16.4 kB that are kept" in longer.json["detail"]


def test_a_message_is_one_line_of_1000_characters(root, path):
    for message in ["two\nlines", "\x1b[31mred", "\x9b31m", "x" * 1001, "\x00"]:
        assert (400, "message") == refusal(root.post(path, {"outcome": "good", "message": message}))
        assert 201 == root.post(path, {"outcome": "good", "message": "ü" * 1000}).status_int, message


def test_a_version_has_20_names_of_clients(root, path, by_service, outcomes):
    by_service("restore", "good")
    for number in range(20):
        assert 201 == root.post(path, {"name": f"check_{number}", "outcome": "good"}).status_int

    assert (400, "name") == refusal(root.post(path, {"name": "another", "outcome": "good"}))
    assert 201 == root.post(path, {"name": "check_7", "outcome": "broken"}).status_int
    assert 21 == len(outcomes())


def test_a_token_makes_one_event_a_minute_about_a_version(root, path, count_events, member, outcomes):
    for outcome in ("good", "broken", "good", "broken"):
        root.post(path, {"outcome": outcome})

    assert 1 == count_events()
    assert {"restore (client)": "broken"} == outcomes()
    assert 201 == member(Role.UPLOAD_VERSIONS).post(path, {"outcome": "good"}).status_int
    assert 2 == count_events()


@pytest.fixture
def loads(services):
    """The columns with what clients wrote, in the order of the statements that load them."""
    found = []

    def listener(connection, cursor, statement, *_):
        found.extend(column for column in ("version_check.details", "trash.checks") if column in statement)

    event.listen(services.database.engine, "before_cursor_execute", listener)
    yield found
    event.remove(services.database.engine, "before_cursor_execute", listener)


def test_lists_do_not_load_details(root, path, collection, push, loads):
    root.post(path, {"outcome": "good", "details": {"seconds": 12}})
    push(collection, b"-- another dump")
    root.delete(f"/api/v1/collections/{collection}/versions/v2")
    loads.clear()

    listed = root.get(f"/api/v1/collections/{collection}/checks").json["items"]
    for lists in ("versions", "versions/v1", "trash"):
        assert 200 == root.get(f"/api/v1/collections/{collection}/{lists}").status_int

    assert [("restore (client)", 1)] == [(one["name"], one["version"]) for one in listed]
    assert "details" not in listed[0]
    assert [] == loads
    assert {"seconds": 12} == root.get(path).json["items"][0]["details"]
    assert ["version_check.details"] == loads
