"""Warnings about who sends: another program or host than in the last weeks, and hosts that send in turn, each once."""

import io
from datetime import timedelta
from itertools import count

import pytest

from frepo_core.db import utc_now
from frepo_core.domain.roles import Role
from frepo_core.plugins import NewRun

from .conftest import DUMP, told

KINDS = "&".join(f"kind={kind}" for kind in ("collection.sender_changed", "collection.senders_in_turn", "token.shared"))
CURL = "curl/8.5.0"


@pytest.fixture
def make_token(running, service):
    """Make a token that may upload to these collections."""

    def make_token(*collections):
        token = running.make_token(Role.UPLOAD_VERSIONS.value)
        fingerprint = service.identify(token, address="192.0.2.7").fingerprint
        for collection in collections:
            running.request("PUT", f"/api/v1/collections/{collection}/access/{fingerprint}")
        return token

    return make_token


@pytest.fixture
def token(make_token, collection):
    return make_token(collection)


@pytest.fixture
def send(service, collection, token):
    """Upload a version, so many days ago, from a program and a host."""
    numbers = count()

    def send(days_ago, program=CURL, host="", *, by=token, to=collection):
        service.add_version(
            to,
            io.BytesIO(DUMP + b"%d" % next(numbers)),
            by=service.identify(by, address="192.0.2.7", user_agent=program),
            began_at=utc_now() - timedelta(days=days_ago),
            run=NewRun(outcome="ok", host=host) if host else None,
        )

    return send


@pytest.fixture
def warned(running):
    """Run the job; return the sentences of all warnings so far."""

    def warned():
        result = running.run("jobs:run", "senders")
        assert 0 == result.status, result.output
        return [one["message"] for one in running.request("GET", "/api/v1/overview").json["senders"]]

    return warned


def test_another_program_is_warned_of_once(send, warned, running, collection):
    for days_ago in range(10, 1, -1):
        send(days_ago)
    assert [] == warned()
    send(1, "python-requests/2.32")

    said = "The collection dump.sql gets versions from the program python-requests, before from curl"
    assert [said] == warned()
    send(0, "python-requests/2.33")
    assert [said] == warned()
    event = told(running, "collection.sender_changed", collection_id=collection)
    assert {"what": "program", "before": "curl", "after": "python-requests", "message": said} == event["data"]
    assert [event] == running.request("GET", f"/api/v1/events?{KINDS}").json["items"]
    shown = running.run("status")
    assert (1, True) == (shown.status, said in shown.output)


def test_a_new_version_of_a_program_and_a_browser_are_no_other_sender(send, warned):
    for days_ago in range(10, 1, -1):
        send(days_ago)
    send(1, "curl/8.11.1")
    send(0, "Mozilla/5.0 (X11; Linux x86_64)")

    assert [] == warned()


def test_a_collection_that_is_new_has_no_usual_sender(send, warned):
    send(1)
    send(0, "frepo-client/0.2.0")

    assert [] == warned()


def test_another_host_takes_the_place_of_the_first(send, warned):
    for days_ago in range(10, 3, -1):
        send(days_ago, host="db1")
    for days_ago in range(2, -1, -1):
        send(days_ago, host="db2")

    assert ["The collection dump.sql gets versions from the host db2, before from db1"] == warned()


def test_a_pod_with_a_name_of_its_own_each_night_is_no_other_host(send, warned):
    for days_ago in range(12, -1, -1):
        send(days_ago, host=f"backup-{days_ago}")

    assert [] == warned()


def test_two_hosts_that_send_to_a_collection_in_turn_are_named(send, warned, make_token, collection):
    other = make_token(collection)
    for days_ago in range(3, -1, -1):
        send(days_ago, host="db1")
        send(days_ago, host="db2", by=other)

    assert ["The collection dump.sql gets versions from db1 and db2 in turn"] == warned() == warned()


def test_two_hosts_that_use_one_token_are_named(send, warned, running, make_token, collection):
    second = running.make_collection()
    shared = make_token(collection, second)
    for days_ago in range(3, -1, -1):
        send(days_ago, host="db1", by=shared)
        send(days_ago, host="db2", by=shared, to=second)

    [said] = warned()
    assert said.endswith("is used by db1 and db2 in turn")
    event = told(running, "token.shared")
    assert ["db1", "db2"] == event["data"]["hosts"]
    assert [event] == running.request("GET", f"/api/v1/events?{KINDS}").json["items"]


def test_who_may_not_see_a_collection_reads_no_warning_about_it(send, warned, running, make_token, collection):
    other = make_token(collection)
    for days_ago in range(3, -1, -1):
        send(days_ago, host="db1")
        send(days_ago, host="db2", by=other)
    assert 1 == len(warned())

    reader = running.make_token(Role.VIEW_METRICS.value)

    assert [] == running.request("GET", "/api/v1/overview", token=reader).json["senders"]
