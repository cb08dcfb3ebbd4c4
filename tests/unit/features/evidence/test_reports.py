"""Reports about restores, and about the nights of each host: over HTTP and by `frepo report`."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event
from webtest import TestApp

from frepo_core.db import simulated_time, utc_now
from frepo_core.domain.backups.runs import NewRun
from frepo_core.domain.roles import Role
from frepo_core.features.evidence.feature import EvidenceServices
from frepo_core.features.evidence.formats import FORMATS
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.base.lease import LEADER
from frepo_core.services.events.numbering import number_events
from frepo_core.web import make_app
from support.client import Client

TODAY = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
ROLES = (Role.VIEW_METRICS, Role.VIEW_EVENTS, Role.VIEW_ALL_COLLECTIONS, Role.LIST_TOKENS)


@pytest.fixture
def reports(services):
    return services.feature(EvidenceServices).reports


@pytest.fixture
def nightly(make_collection, push):
    """Make a collection that expects a backup each night at two, with backups on some of the last days."""

    def nightly(*ago, name="", **more):
        with simulated_time(TODAY - 10 * DAY):
            made = make_collection(50, expected_every="0 2 * * * UTC", **more)
        for days in sorted(ago, reverse=True):
            with simulated_time(TODAY - days * DAY + 2 * HOUR):
                push(made, f"{made} {days}".encode())
        return made

    return nightly


@pytest.fixture
def number(services, make_lease):
    lease = make_lease("first", LEADER)
    assert lease.try_acquire()
    return lambda: number_events(services.database, lease.epoch)


@pytest.fixture
def client(services, make_token):
    """Call the API with a token of some roles."""
    app = TestApp(make_app(services))
    return lambda *roles: Client(app, make_token(*roles))


def since(days):
    return {"since": TODAY - days * DAY, "until": TODAY}


def test_nights_and_gaps_are_those_of_good_backups(reports, nightly, services, by, push):
    made = nightly(7, 6, 5, 3, 2, 1)
    services.versions.delete(made, "v6", by=by)

    [found] = reports.restores(**since(7)).collections

    assert (7, 6) == (found.nights.expected, found.nights.good)
    assert [(TODAY - 4 * DAY + 2 * HOUR, 1)] == [(gap.since, gap.missed) for gap in found.nights.gaps]


def test_a_backup_that_was_quarantined_is_missed_until_a_person_releases_it(
    reports, make_collection, push, services, by
):
    with simulated_time(TODAY - 10 * DAY):
        made = make_collection(
            50, expected_every="0 2 * * * UTC", guards={"min_version_size": 5, "action": "quarantine"}
        )
    for days, content in ((2, b"large enough"), (1, b"tiny")):
        with simulated_time(TODAY - days * DAY + 2 * HOUR):
            push(made, content)
    assert (2, 1) == nights(reports, 2)

    found = services.versions.find(made, "v2").id
    services.version_edits.edit(made, found, VersionChange(releases=True), by=by)

    assert (2, 2) == nights(reports, 2)


def nights(reports, days):
    [found] = reports.restores(**since(days)).collections
    return found.nights.expected, found.nights.good


def test_the_last_proven_restore_has_its_seconds_and_what_was_asserted(reports, nightly, services):
    made = nightly(2, 1)
    never = nightly(1)
    result = services.feature(RestoreTestServices).tests.run(
        services.collections.get(made), command="sh -c 'cat > copy; sleep 0.2; echo 17 rows'", by=None
    )

    report = reports.restores()

    found = {one.id: one for one in report.collections}
    proven = found[made].proven
    assert ("good", "good", None) == (result.outcome, found[made].outcome, found[never].proven)
    assert (2, result.size, round(result.seconds, 3)) == (proven.version, proven.size, proven.seconds)
    assert round(proven.size / proven.seconds) == proven.rate
    assert ("sh", result.size) == (proven.asserted["command"], proven.asserted["read"])
    assert "output" not in proven.asserted
    [storage] = report.fleet.storages
    assert (2, 1, found[made].size + found[never].size) == (storage.collections, storage.proven, storage.size)
    assert storage.seconds == report.fleet.seconds > proven.seconds


def test_the_time_of_a_proof_stays_when_its_version_is_deleted(reports, nightly, services, by):
    made = nightly(1)
    services.feature(RestoreTestServices).tests.run(services.collections.get(made), command="sh -c 'cat > x'", by=None)
    services.versions.delete(made, "v1", by=by)

    [found] = reports.restores().collections

    assert (found.tried_at, None, None) == (found.proven.at, found.proven.version, found.proven.seconds)
    assert None is found.size


def test_it_says_who_has_deleted_and_released_what(reports, nightly, services, identify, number):
    person = identify(Role.ADMINISTRATOR)
    made = nightly(2, 1)
    services.versions.delete(made, "v1", by=person)
    number()

    found = [(act.kind, act.actor, act.collection_id, act.version_number) for act in reports.restores().acts]

    assert ("version.deleted", person.fingerprint, made, 1) in found


def test_it_says_who_has_put_on_hold_and_ended_that(reports, nightly, services, identify, number):
    person = identify(Role.ADMINISTRATOR)
    made = nightly(1)
    services.holds.set(made, "case 4711", by=person)
    services.holds.end(made, by=person)
    number()

    found = [(act.kind, act.actor, act.reason) for act in reports.restores().acts if act.collection_id == made]

    for kind in ("collection.held", "collection.hold_ended"):
        assert (kind, person.fingerprint, "case 4711") in found


def test_the_hosts_are_those_of_labels_then_of_runs_then_of_tokens(reports, nightly, services, sender, identify, push):
    nightly(3, 1, labels=["host:db7"])
    nightly(3, 2, 1, labels=["host:db7", "prod"])
    of_run = nightly(3, 2, 1)
    services.run_reports.record(of_run, NewRun(outcome="skipped", host="web.example"), by=sender)
    named = identify(Role.ADMINISTRATOR, name="token of mail")
    nightly()
    with simulated_time(TODAY - 2 * DAY + 2 * HOUR):
        push(nightly(), b"x", by=named)

    report = reports.nights(**since(3))

    found = {(host.host, host.source): (host.collections, host.good, host.expected) for host in report.hosts}
    assert {
        ("db7", "label"): (2, 5, 6),
        ("web.example", "run"): (1, 3, 3),
        ("token of mail", "token"): (1, 1, 3),
        ("", "none"): (1, 0, 3),
    } == found
    assert ["", "token of mail", "db7", "web.example"] == [host.host for host in report.hosts]
    assert (9, 15) == (report.good, report.expected)


def test_the_nights_are_those_of_last_month_by_default(reports):
    report = reports.nights()

    assert (1, 0, 1) == (report.since.day, report.since.hour, report.until.day)
    assert timedelta(days=28) <= report.until - report.since <= timedelta(days=31)
    assert report.until <= utc_now() < report.until + timedelta(days=31)


@pytest.mark.parametrize("name", ["restores", "nights"])
def test_the_number_of_statements_does_not_depend_on_that_of_collections(reports, nightly, services, name, number):
    def count():
        statements = []

        def listener(*arguments):
            statements.append(arguments[2])

        event.listen(services.database.engine, "before_cursor_execute", listener)
        getattr(reports, name)()
        event.remove(services.database.engine, "before_cursor_execute", listener)
        return len(statements)

    nightly(1)
    count()
    few = count()
    for _ in range(8):
        nightly(3, 2, 1, labels=["host:db7"])
    number()

    assert few == count() <= 12


@pytest.mark.parametrize("name", ["restores", "nights"])
@pytest.mark.parametrize("form", FORMATS)
def test_texts_of_clients_are_escaped_in_each_format(reports, make_collection, name, form):
    make_collection(labels=["host:<script>alert(1)</script>"], expected_every="P1D")
    make_collection(labels=["host:=cmd()"], expected_every="P1D", description="<b>")
    report = getattr(reports, name)()

    text = b"".join(FORMATS[form][0](report)).decode()

    assert form == "json" or name == "restores" or "=cmd()" in text
    if form == "html":
        assert not re.search("<script|<b>|<link|<img|src=|@import", text)
    if form == "csv":
        rows = list(csv.reader(io.StringIO(text)))
        assert {len(rows[0])} == {len(row) for row in rows}
        assert not any(cell.startswith("=") for row in rows for cell in row)


class TestHttp:
    @pytest.mark.parametrize("path", ["restores", "nights", "restores.html", "restores.csv", "nights.html"])
    def test_it_needs_four_roles(self, client, path):
        for missing in ROLES:
            roles = [role for role in ROLES if role is not missing]
            assert 403 == client(*roles).get(f"/api/v1/reports/{path}").status_int

        assert 200 == client(*ROLES).get(f"/api/v1/reports/{path}").status_int

    def test_the_answer_is_the_report(self, client, nightly):
        made = nightly(2, 1)

        answer = client(*ROLES).get(f"/api/v1/reports/restores?since={TODAY - 2 * DAY:%Y-%m-%d}&until={TODAY:%Y-%m-%d}")

        [found] = answer.json["collections"]
        assert (made, {"expected": 2, "good": 2, "gaps": []}) == (found["id"], found["nights"])

    @pytest.mark.parametrize("query", ["since=2025-01-01&until=2024-12-31", "since=2020-01-01", "since=yesterday"])
    def test_a_wrong_time_is_named(self, client, query):
        answer = client(*ROLES).get(f"/api/v1/reports/restores?{query}")

        assert (400, "since") == (answer.status_int, answer.json["errors"][0]["field"])
