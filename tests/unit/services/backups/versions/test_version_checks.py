"""Results of checks of versions: recorded with their events, replaced by later ones, deleted with their version."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event, VersionCheck
from frepo_core.domain.identity import Actor
from frepo_core.services.backups.versions.version_checks import NewCheck

pytestmark = pytest.mark.databases

JOB = Actor(name="system:integrity_deep")


@pytest.fixture
def checks(services):
    return services.version_checks


@pytest.fixture
def late(services):
    return services.late_results


@pytest.fixture
def versions(push, make_collection):
    collection = make_collection(5)
    return [push(collection, f"-- dump {number}".encode()).version for number in range(3)]


def result(outcome, message="", **details):
    return NewCheck(name="integrity", outcome=outcome, message=message, details=details)


def events(services):
    with services.database.reading() as session:
        rows = session.scalars(select(Event).where(Event.kind == "version.checked").order_by(Event.id))
        return [(row.actor, row.version_number, row.data) for row in rows]


def test_a_result_is_recorded_with_its_event(services, checks, late, versions):
    assert late.record(versions[1].id, result("broken", "cut", kinds=["gzip"]), by=JOB)

    (found,) = checks.of_collection(versions[1].collection_id)
    assert (2, "integrity", "broken", "cut") == (found.version_number, found.name, found.outcome, found.message)
    assert ({"kinds": ["gzip"]}, JOB.name) == (found.details, found.actor)
    data = {"check": "integrity", "outcome": "broken", "message": "cut"}
    assert [(JOB.name, 2, data)] == events(services)


def test_a_pending_check_has_no_event(services, late, versions):
    late.record(versions[0].id, result("pending"), by=JOB)

    assert [] == events(services)


def test_a_later_result_replaces_an_earlier_one(checks, late, versions):
    for outcome in ("pending", "not checked", "good"):
        late.record(versions[0].id, result(outcome), by=JOB)

    assert ["good"] == [found.outcome for found in checks.of_collection(versions[0].collection_id, 1)]


def test_pending_checks_come_in_rounds_of_the_collections_the_oldest_of_each_first(checks, late, push, make_collection):
    one, two = make_collection(9), make_collection(9)
    pushed = {content: push(one, content).version for content in (b"xx", b"xxxx", b"xxx")}
    pushed |= {content: push(two, content).version for content in (b"yyyyyyy", b"y", b"yyyyy")}
    for content, version in pushed.items():
        late.record(version.id, result("good" if content == b"y" else "pending"), by=JOB)

    found = [pending.size for pending in checks.pending("integrity", limit=10)]

    assert [2, 7, 4, 5, 3] == found
    assert [2, 3] == [each.size for each in checks.pending("integrity", limit=9, without=[pushed[b"xxxx"].id])][:3:2]
    assert [] == checks.pending("another", limit=10)


def test_the_results_are_deleted_with_their_version(services, late, versions, sender):
    late.record(versions[0].id, result("good"), by=JOB)

    services.versions.delete(versions[0].collection_id, "v1", by=sender)

    with services.database.reading() as session:
        assert [] == session.scalars(select(VersionCheck)).all()


def test_a_result_for_a_deleted_version_is_dropped(services, late, versions, sender):
    services.versions.delete(versions[0].collection_id, "v1", by=sender)

    assert not late.record(versions[0].id, result("good"), by=JOB)
    assert [] == events(services)


def test_a_plugin_finishes_a_pending_check(services, late, versions):
    service = next(iter(services.contexts.values())).service
    late.record(versions[1].id, result("pending"), by=JOB)

    (pending,) = service.pending_checks("integrity", limit=10)
    with service.open_version(pending.collection_id, pending.version_number) as content:
        assert b"-- dump 1" == content.read()
        content.seek(3)
        assert b"dump" == content.read(4)
    assert service.record_check(pending, "broken", "cut", job="integrity_deep", details={"kinds": ["sql"]})

    assert [] == service.pending_checks("integrity", limit=10)
    assert ("dump-v2.sql", "text/plain", 9) == (pending.file_name, pending.mime_type, pending.size)
    assert [JOB.name] == [actor for actor, *_ in events(services)]
