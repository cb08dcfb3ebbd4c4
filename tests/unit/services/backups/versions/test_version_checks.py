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
def versions(push, make_collection):
    collection = make_collection(5)
    return [push(collection, f"-- dump {number}".encode()).version for number in range(3)]


def result(outcome, message="", **details):
    return NewCheck(name="integrity", outcome=outcome, message=message, details=details)


def events(services):
    with services.database.reading() as session:
        rows = session.scalars(select(Event).where(Event.kind == "version.checked").order_by(Event.id))
        return [(row.actor, row.version_number, row.data) for row in rows]


def test_a_result_is_recorded_with_its_event(services, checks, versions):
    assert checks.record(versions[1].id, result("broken", "cut", kinds=["gzip"]), by=JOB)

    (found,) = checks.of_collection(versions[1].collection_id)
    assert (2, "integrity", "broken", "cut") == (found.version_number, found.name, found.outcome, found.message)
    assert ({"kinds": ["gzip"]}, JOB.name) == (found.details, found.actor)
    data = {"check": "integrity", "outcome": "broken", "message": "cut"}
    assert [(JOB.name, 2, data)] == events(services)


def test_a_pending_check_has_no_event(services, checks, versions):
    checks.record(versions[0].id, result("pending"), by=JOB)

    assert [] == events(services)


def test_a_later_result_replaces_an_earlier_one(checks, versions):
    for outcome in ("pending", "not checked", "good"):
        checks.record(versions[0].id, result(outcome), by=JOB)

    assert ["good"] == [found.outcome for found in checks.of_collection(versions[0].collection_id, 1)]


def test_pending_checks_are_listed_from_the_oldest(checks, versions):
    for version in (versions[2], versions[0]):
        checks.record(version.id, result("pending"), by=JOB)
    checks.record(versions[1].id, result("good"), by=JOB)

    assert [3, 1] == [found.version_number for found in checks.pending("integrity", limit=10)]
    assert [1] == [found.version_number for found in checks.pending("integrity", limit=1, without=[versions[2].id])]
    assert [] == checks.pending("another", limit=10)


def test_the_results_are_deleted_with_their_version(services, checks, versions, sender):
    checks.record(versions[0].id, result("good"), by=JOB)

    services.versions.delete(versions[0].collection_id, "v1", by=sender)

    with services.database.reading() as session:
        assert [] == session.scalars(select(VersionCheck)).all()


def test_a_result_for_a_deleted_version_is_dropped(services, checks, versions, sender):
    services.versions.delete(versions[0].collection_id, "v1", by=sender)

    assert not checks.record(versions[0].id, result("good"), by=JOB)
    assert [] == events(services)


def test_a_plugin_finishes_a_pending_check(services, checks, versions):
    service = next(iter(services.contexts.values())).service
    checks.record(versions[1].id, result("pending"), by=JOB)

    (pending,) = service.pending_checks("integrity", limit=10)
    with service.open_version(pending.collection_id, pending.version_number) as content:
        assert b"-- dump 1" == content.read()
        content.seek(3)
        assert b"dump" == content.read(4)
    assert service.record_check(pending, "broken", "cut", job="integrity_deep", details={"kinds": ["sql"]})

    assert [] == service.pending_checks("integrity", limit=10)
    assert ("dump-v2.sql", "text/plain", 9) == (pending.file_name, pending.mime_type, pending.size)
    assert [JOB.name] == [actor for actor, *_ in events(services)]
