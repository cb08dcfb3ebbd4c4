"""What a client's report of a run says about the version that the same client has sent."""

import hashlib
from datetime import timedelta

import pytest
from sqlalchemy import func, select, text, update

from frepo_core.db import utc_now
from frepo_core.db.models import Event, Version
from frepo_core.domain.roles import Role
from support.client import Client

V1 = "/api/v1/collections"
MERGE = {"Content-Type": "application/merge-patch+json"}
PROVEN = {"outcome": "ok", "exit_statuses": [0, 0]}
FAILED = {"outcome": "failed", "exit_statuses": [1, 0], "error_output": "pg_dump: error: the server is gone"}
REASON = "The run failed: pg_dump: error: the server is gone"


class Sender:
    """A client with a token of its own, for one collection."""

    def __init__(self, client, collection):
        self.client, self.collection = client, collection

    def push(self, *words):
        for word in words:
            assert 200 == self.client.push(self.collection, word.encode()).status_int

    def report(self, run, **more):
        answer = self.client.post(f"{V1}/{self.collection}/runs", {**run, **more})
        assert 201 == answer.status_int, answer.json
        return answer.json["version"]


@pytest.fixture
def collection(make):
    return make(5)


@pytest.fixture
def make_sender(app, make_token, root, collection):
    def make_sender(collection=collection):
        client = Client(app, make_token(Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS))
        root.post(f"/repository/collection/{collection}/token", {"token": client.token})
        return Sender(client, collection)

    return make_sender


@pytest.fixture
def sender(make_sender):
    return make_sender()


@pytest.fixture
def count(services):
    """Count the events of a kind."""

    def count(kind):
        with services.database.reading() as session:
            return session.scalar(select(func.count()).where(Event.kind == kind))

    return count


@pytest.fixture
def release(root, collection):
    def release(number):
        path = f"{V1}/{collection}/versions/v{number}"
        assert 200 == root.call("PATCH", path, json={"quarantined": False}, headers=MERGE).status_int

    return release


@pytest.mark.databases
def test_a_failed_run_condemns_the_version_that_it_names(collection, sender, versions, named, shown, count):
    sender.push("good 1", "good 2")

    assert 2 == sender.report(FAILED, version=2)

    assert {1: "whole", 2: "broken"} == versions(collection)
    assert [1, 1] == [named(collection, name) for name in ("latest", "good")]
    assert ("failed", REASON) == (shown(collection)["state"], shown(collection)["state_reason"])
    assert 1 == count("version.condemned")
    sender.push("good 3")
    assert "ok" == shown(collection)["state"]


def test_what_half_a_dump_has_evicted_comes_back(make, make_sender, versions, named):
    sender = make_sender(make(1))
    sender.push("good 1", "good 2")
    assert {2: "whole"} == versions(sender.collection)

    sender.report(FAILED, seconds=60)

    assert {1: "whole", 2: "broken"} == versions(sender.collection)
    assert 1 == named(sender.collection, "latest")
    sender.push("good 3")
    assert {3: "whole"} == versions(sender.collection)


def test_a_failed_run_that_has_stored_nothing_is_over_with_the_next_good_version(collection, sender, versions, shown):
    sender.push("good 1")

    assert sender.report(FAILED) is None

    state = shown(collection)
    assert ("failed", "pg_dump: error: the server is gone") == (state["state"], state["state_reason"])
    assert {1: "whole"} == versions(collection)
    sender.push("broken 2")
    assert "failed" == shown(collection)["state"]
    sender.push("good 3")
    assert "ok" == shown(collection)["state"]


def test_one_that_names_none_condemns_what_has_arrived_since_its_start(collection, sender, versions, services):
    def arrived(age):
        sender.push(f"good {age}")
        at = utc_now() - timedelta(seconds=age)
        newest = select(func.max(Version.number)).scalar_subquery()
        services.database.execute(update(Version).where(Version.number == newest).values(created_at=at))

    hour_ago = (utc_now() - timedelta(hours=1)).isoformat()
    for age, run, is_condemned in [
        (600, {"seconds": 900}, True),
        (600, {"started_at": hour_ago}, True),
        (600, {"seconds": 300}, False),
        (4000, {"started_at": hour_ago}, False),
        # The clock of the client is a day slow.
        (4000, {"started_at": (utc_now() - timedelta(days=1)).isoformat(), "seconds": 3600}, False),
        (90_000, {"seconds": 10**8}, False),
        (600, {}, False),
        (600, {"seconds": 900, "outcome": "skipped"}, False),
        (600, {"seconds": 900, "stored_nothing": True}, False),
    ]:
        arrived(age)
        number = sender.report(FAILED | run)

        assert is_condemned == (number is not None), run
        assert ("broken" if is_condemned else "whole") == max(versions(collection).items())[1], run


def test_only_the_newest_one_is_condemned_and_within_a_day(collection, sender, versions, services, shown):
    sender.push("good 1", "good 2")
    assert 1 == sender.report(FAILED, version=1)
    assert {1: "whole", 2: "whole"} == versions(collection)

    services.database.execute(update(Version).values(created_at=utc_now() - timedelta(hours=25)))
    assert 2 == sender.report(FAILED, version=2)

    assert {1: "whole", 2: "whole"} == versions(collection)
    assert "failed" == shown(collection)["state"]


def test_a_client_condemns_no_version_of_another(collection, sender, make_sender, root, versions, shown):
    sender.push("good 1")
    digest = hashlib.sha256(b"good 1").hexdigest()

    for run in ({"version": 1}, {"sha256": digest}, {"seconds": 9000}):
        assert make_sender().report(FAILED | run) is None
    assert make_sender().report(PROVEN, version=1) is None

    assert {1: "whole"} == versions(collection)
    assert "failed" == shown(collection)["state"]


def test_the_token_that_replaces_another_speaks_for_it(collection, app, sender, root, services, versions):
    sender.push("good 1")
    fingerprint = services.tokens.fingerprint(sender.client.token)
    rotated = root.post(f"/api/v1/tokens/{fingerprint}/rotate", {"overlap": "PT0S"}).json

    new = Sender(Client(app, rotated["secret"]), collection)

    assert 1 == new.report(PROVEN, version=1)
    assert {1: "complete"} == versions(collection)


def test_a_run_of_which_each_stage_ended_well_proves_its_version_complete(collection, sender, versions):
    sender.push("good 1")
    digest = hashlib.sha256(b"good 1").hexdigest()
    for run in [
        {"outcome": "ok", "version": 1},
        PROVEN,
        PROVEN | {"version": 1, "exit_statuses": [0, 1]},
        PROVEN | {"version": 2},
        PROVEN | {"version": 1, "sha256": "0" * 64},
        PROVEN | {"version": 1, "outcome": "skipped"},
    ]:
        sender.report(run)
        assert {1: "whole"} == versions(collection), run

    assert 1 == sender.report(PROVEN, sha256=digest)

    assert {1: "complete"} == versions(collection)


def test_a_client_lifts_no_finding_against_its_version(collection, sender, versions):
    sender.push("good 1", "broken 2", "odd 3", "pending 4")
    for number in (2, 3, 4):
        sender.report(PROVEN, version=number)
    assert {1: "whole", 2: "(broken)", 3: "(suspicious)", 4: "pending"} == versions(collection)

    sender.push("good 5")
    sender.report(FAILED, version=5)
    sender.report(PROVEN, version=5)

    assert "broken" == versions(collection)[5]


def test_a_pending_version_of_a_failed_run_is_put_into_quarantine(collection, sender, versions, shown):
    sender.push("good 1", "pending 2")

    sender.report(FAILED, version=2)

    assert {1: "whole", 2: "(broken)"} == versions(collection)
    assert "failed" == shown(collection)["state"]


def test_what_a_person_has_released_is_not_condemned_again_by_the_same_report(
    collection, sender, versions, release, count
):
    sender.push("good 1")
    for _ in range(3):
        sender.report(FAILED, version=1)
    found = count("version.checked")
    release(1)

    sender.report(FAILED, version=1)

    assert {1: "whole"} == versions(collection)
    assert found == count("version.checked")


def test_a_night_in_which_all_jobs_fail_condemns_each_of_them(make, make_sender, versions):
    senders = [make_sender(make()) for _ in range(5)]
    for each in senders:
        each.push("good 1")
        each.report(FAILED, version=1)

    assert [{1: "broken"}] * 5 == [versions(each.collection) for each in senders]


def test_no_client_posts_a_check_of_this_name(collection, sender):
    sender.push("good 1")

    answer = sender.client.post(f"{V1}/{collection}/versions/v1/checks", {"name": "run", "outcome": "good"})

    assert (400, "name") == (answer.status_int, answer.json["errors"][0]["field"])


def test_a_run_is_recorded_only_together_with_what_it_says_about_its_version(services, sender, versions, collection):
    """Otherwise a client that repeats its report after an error would leave two runs."""
    sender.push("good")
    refuse = "BEFORE INSERT ON version_check WHEN NEW.name = 'run' BEGIN SELECT RAISE(ABORT, 'no'); END"
    with services.database.engine.begin() as connection:
        connection.execute(text(f"CREATE TRIGGER refuse {refuse}"))

    with pytest.raises(Exception, match="no"):
        sender.report(FAILED, version=1)
    assert [] == sender.client.get(f"{V1}/{collection}/runs").json["items"]

    with services.database.engine.begin() as connection:
        connection.execute(text("DROP TRIGGER refuse"))
    sender.report(FAILED, version=1)
    assert 1 == len(sender.client.get(f"{V1}/{collection}/runs").json["items"])
    assert {1: "broken"} == versions(collection)
