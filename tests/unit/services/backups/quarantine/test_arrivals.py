"""Versions in quarantine: accepted, but nothing depends on them until a person releases or deletes them."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db.models import Sample
from frepo_core.domain.limits import ONE, TOTAL
from frepo_core.errors import (
    CollectionFullError,
    DuplicateVersionError,
    NotFoundError,
    RuleError,
    VersionTooYoungError,
)
from frepo_core.features.overview.feature import OverviewServices
from frepo_core.features.overview.samples import take_samples
from frepo_core.features.restore_tests.feature import RestoreTestServices
from frepo_core.services.backups.collections.states import BackupState
from frepo_core.services.reports.statistics import read_collection_usage
from support.model.quarantine import GOOD, GUARDS, RELEASE, SHRANK, SMALL


@pytest.mark.databases
def test_a_suspicious_version_is_quarantined_and_evicts_nothing(services, collection, push, numbers, row, events):
    before = row(collection)
    added = push(collection, SMALL).version
    after = row(collection)

    assert [1, 2, 3] == numbers(collection)
    assert (True, SHRANK, False) == (added.is_suspicious, added.quarantine_reason, added.pinned)
    assert added.quarantined_at == added.created_at
    assert (2, before.stored_size, 1, len(SMALL)) == (
        after.versions_count,
        after.stored_size,
        after.quarantined_count,
        after.quarantined_size,
    )
    assert (before.arrived_at, before.due_at) == (after.arrived_at, after.due_at)
    assert [] == events(collection, "version.suspicious")
    assert [1, 2] == [event["number"] for event in events(collection, "version.added")]
    (event,) = events(collection)
    assert (3, SHRANK, 1, False) == tuple(event[name] for name in ("number", "reason", "nights", "new_normal"))
    assert event["message"].startswith("The version is smaller than the last ones (5 bytes; at least 13 bytes), beyond")


def test_a_collection_with_only_quarantined_versions_has_no_latest_version(services, make_collection, push):
    collection = make_collection(2, guards={"min_version_size": 10, "action": "quarantine"})
    push(collection, SMALL)

    for name in ("latest", "first", "2099-01-01"):
        with pytest.raises(NotFoundError):
            services.versions.find_selected(collection, name)
    details = services.collection_pages.details(services.collections.get(collection))
    assert (None, BackupState.SUSPICIOUS) == (details.newest, details.state.state)
    services.versions.delete(collection, "v1")
    assert BackupState.NEW == services.collection_states.read([collection])[collection].state


def test_later_versions_are_not_compared_with_a_quarantined_one(collection, push):
    push(collection, SMALL)
    smaller = push(collection, SMALL + b"2").version
    good = push(collection, GOOD + b"3").version

    assert (True, False) == (smaller.quarantined_at is not None, good.quarantined_at is not None)


def test_a_repeated_content_in_quarantine_is_no_duplicate(services, collection, push, monkeypatch):
    monkeypatch.setattr(services.add_version.rules, "refuses_duplicates", True)
    push(collection, SMALL)

    assert push(collection, SMALL).version.quarantined_at
    with pytest.raises(DuplicateVersionError):
        push(collection, GOOD + b"2")


def test_the_state_is_suspicious_while_the_newest_version_is_quarantined(services, collection, push):
    def state():
        return services.collection_states.read([collection])[collection].state

    push(collection, SMALL)
    assert BackupState.SUSPICIOUS == state()
    push(collection, GOOD + b"3")
    assert BackupState.OK == state()
    push(collection, SMALL)
    services.versions.delete(collection, "v5")
    assert BackupState.OK == state()


def test_only_the_newest_quarantined_versions_are_kept(collection, push, numbers, row, events, keys):
    for content in (b"1", b"22", b"333"):
        push(collection, content)

    assert [1, 2, 4, 5] == numbers(collection)
    assert (2, 5) == (row(collection).quarantined_count, row(collection).quarantined_size)
    (evicted,) = events(collection, "version.evicted")
    assert (3, 5, "quarantine_surplus") == tuple(evicted[name] for name in ("number", "replaced_by", "reason"))


def test_quarantine_needs_no_room(make_collection, push, push_sized, numbers):
    guards = GUARDS | {"min_retention": timedelta(days=1)}
    young = make_collection(1, guards=guards)
    full = make_collection(1, guards=GUARDS, strategy="alert_when_backup_limit_reached")
    for collection in (young, full):
        push(collection, GOOD)
        with pytest.raises(RuleError):
            push_sized(collection, GOOD + b"2")
        with pytest.raises(RuleError):  # it would be refused anyway, so its content is not read
            push(collection, SMALL)
        push_sized(collection, SMALL)

        assert [1, 2] == numbers(collection)


def test_a_quarantined_version_keeps_to_the_size_limits(make_collection, push):
    collection = make_collection(2, limits={ONE: 0, TOTAL: 9}, guards={"min_version_size": 20, "action": "quarantine"})
    push(collection, b"12345678")
    push(collection, b"123456789")

    with pytest.raises(CollectionFullError):
        push(collection, b"1234567890")


def test_three_nights_with_the_same_reason_may_be_the_new_normal(collection, push, events, at):
    for hours in (2, 2.5, 26, 49):
        at(hours)
        push(collection, SMALL)

    nights = [(event["nights"], event["new_normal"]) for event in events(collection)]
    assert [(1, False), (1, False), (2, False), (3, True)] == nights


def test_a_good_version_or_another_reason_ends_the_nights(services, make_collection, push, events, edit, at):
    collection = make_collection(5, guards=GUARDS | {"min_version_size": 3})
    contents = [GOOD, SMALL, SMALL, b"12", SMALL, SMALL, GOOD, SMALL, SMALL, SMALL]
    for night, content in enumerate(contents):
        at(24 * night)
        push(collection, content)
    assert [1, 2, 1, 1, 2, 1, 2, 3] == [event["nights"] for event in events(collection)]

    edit(collection, len(contents), RELEASE)
    at(24 * len(contents))
    push(collection, b"x")

    assert (1, "new_version_is_smaller_than_the_minimum") == tuple(
        events(collection)[-1][n] for n in ("nights", "reason")
    )


def test_a_young_version_in_quarantine_can_be_deleted(services, make_collection, push, numbers, row):
    collection = make_collection(2, guards=GUARDS | {"min_retention": timedelta(days=1)})
    push(collection, GOOD)
    push(collection, SMALL)
    services.versions.delete(collection, "v2")

    assert ([1], 0, 0) == (numbers(collection), row(collection).quarantined_count, row(collection).quarantined_size)
    with pytest.raises(VersionTooYoungError):
        services.versions.delete(collection, "v1")


def test_figures_leave_quarantined_versions_out(services, collection, push):
    before, newest = services.feature(OverviewServices).overviews.read(), services.versions.find(collection, "latest")
    push(collection, SMALL)
    after = services.feature(OverviewServices).overviews.read()
    take_samples(services.database, services.backends, now=datetime.now(UTC) + timedelta(minutes=1))

    assert before.collections.versions == after.collections.versions
    # The bytes were sent and are stored, and the upload was accepted.
    assert len(SMALL) == after.sizes.sent - before.sizes.sent == after.sizes.stored - before.sizes.stored
    assert 1 == after.last_day.uploads - before.last_day.uploads
    with services.database.reading() as session:
        sample = session.query(Sample).where(Sample.collection_id == collection).one()
        (usage,) = read_collection_usage(session, 1)
    assert (2, 2, 2 * len(GOOD) + 2) == (sample.versions, sample.blobs, sample.size)
    assert (2, newest.created_at) == (usage.versions, usage.newest_at)
    details = services.collection_pages.details(services.collections.get(collection))
    assert newest.number == details.newest.number


def test_restore_tests_take_the_newest_version_that_is_not_quarantined(services, collection, push, sender):
    push(collection, SMALL)
    found = services.collections.get(collection)
    result = services.feature(RestoreTestServices).tests.run(found, by=sender, command="cat")

    assert (2, "good") == (result.version.number, result.outcome)
