"""An upload that its client gave up: it ends after newer ones of the same token, and is put into quarantine."""

from datetime import timedelta
from io import BytesIO

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import VersionTooSmallError
from support.model.quarantine import GOOD, SMALL


class Hanging(BytesIO):
    """A content whose upload hangs: other things happen before its first byte is read."""

    def __init__(self, content, meanwhile):
        super().__init__(content)
        self._meanwhile = [meanwhile]

    def read(self, *size):
        while self._meanwhile:
            self._meanwhile.pop()()
        return super().read(*size)


@pytest.fixture
def cron(identify):
    """The token of the backup job."""
    return identify(Role.ADMINISTRATOR, name="cron")


@pytest.fixture
def push_late(push, cron):
    """Push with the token of the backup job while `meanwhile` happens; return the version."""

    def push_late(collection, meanwhile, content=GOOD + b"late"):
        return push(collection, Hanging(content, meanwhile), by=cron).version

    return push_late


@pytest.fixture
def push_nights(push, cron):
    """Push so many versions with the token of the backup job, one after the other."""

    def push_nights(collection, count, by=None):
        for night in range(count):
            push(collection, GOOD + b"%d" % night, by=by or cron)

    return push_nights


@pytest.mark.databases
def test_an_overtaken_upload_is_quarantined_and_evicts_nothing(
    services, collection, push_late, push_nights, numbers, row, events
):
    late = push_late(collection, lambda: push_nights(collection, 3))
    after = row(collection)

    assert ("overtaken", False, True) == (late.quarantine_reason, late.is_suspicious, late.quarantined_at is not None)
    assert ([4, 5, 6], 5) == (numbers(collection), services.versions.find(collection, "latest").number)
    assert (0, None, None, 1) == (
        after.quarantine_nights,
        after.quarantine_reason,
        after.suspicious_since,
        after.quarantined_count,
    )
    (event,) = events(collection)
    assert (6, "overtaken", 0, False) == tuple(event[name] for name in ("number", "reason", "nights", "new_normal"))
    assert event["message"].startswith("Newer versions of the same client arrived")


@pytest.mark.databases
def test_an_upload_that_began_with_the_one_before_is_not_overtaken(collection, push_late, push_nights):
    assert push_late(collection, lambda: push_nights(collection, 1)).quarantined_at is None


def test_uploads_of_other_tokens_do_not_overtake(collection, push_late, push_nights, identify):
    other = identify(Role.ADMINISTRATOR)

    assert push_late(collection, lambda: push_nights(collection, 3, by=other)).quarantined_at is None


def test_uploads_to_other_collections_do_not_overtake(make_collection, collection, push_late, push_nights):
    assert push_late(collection, lambda: push_nights(make_collection(), 3)).quarantined_at is None


@pytest.mark.databases
def test_the_successor_of_a_token_is_the_same_client(services, collection, push_late, push_nights, cron):
    def rotate():
        fingerprint = cron.fingerprint
        for _ in range(2):
            done = services.token_changes.rotate(fingerprint, timedelta(days=1))
            fingerprint = done.new.fingerprint
        successor = services.tokens.identify(done.id, address="", user_agent="")
        push_nights(collection, 2, by=successor)

    assert "overtaken" == push_late(collection, rotate).quarantine_reason


def test_versions_that_were_removed_have_overtaken_as_well(services, collection, push_late, push_nights, cron):
    def push_and_delete():
        push_nights(collection, 2)
        for number in (3, 4):
            services.versions.delete(collection, f"v{number}", by=cron)

    assert "overtaken" == push_late(collection, push_and_delete).quarantine_reason


def test_a_restored_collection_remembers_its_uploads(services, collection, push_late, push_nights, cron):
    def push_and_restore():
        push_nights(collection, 2)
        services.collections.delete(collection, by=cron, with_versions=True)
        services.deleted_collections.restore(collection, by=cron)

    assert "overtaken" == push_late(collection, push_and_restore).quarantine_reason


def test_quarantined_versions_have_not_overtaken(collection, push, push_late, cron):
    def push_suspicious():
        for _ in range(2):
            push(collection, SMALL, by=cron)

    assert push_late(collection, push_suspicious).quarantined_at is None


def test_an_upload_after_an_overtaken_one_is_a_normal_one(collection, push, push_late, push_nights, cron):
    push_late(collection, lambda: push_nights(collection, 2))

    assert push(collection, GOOD + b"next", by=cron).version.quarantined_at is None


def test_a_collection_keeps_two_overtaken_versions_next_to_the_suspicious_ones(
    collection, push, push_late, push_nights, cron, numbers
):
    for night in range(2):
        push(collection, SMALL + b"%d" % night, by=cron)
    for night in range(3):
        push_late(collection, lambda: push_nights(collection, 2), GOOD + b"late %d" % night)

    assert [3, 4, 10, 11, 12, 13] == numbers(collection)


def test_an_overtaken_version_that_a_guard_refuses_is_refused(make_collection, push_late, push_nights):
    """`refuse` is what the collection says about such contents, whenever they arrive."""
    collection = make_collection(2, guards={"min_version_size": 10})

    with pytest.raises(VersionTooSmallError):
        push_late(collection, lambda: push_nights(collection, 2), b"x")


def test_a_deletion_does_not_end_the_suspicion_because_of_an_overtaken_version(
    services, make_collection, push, push_late, push_nights, cron, row
):
    collection = make_collection(5, guards={"min_version_size": 10, "action": "mark"})

    def push_suspicious():
        push_nights(collection, 2)
        push(collection, b"x", by=cron)

    push_late(collection, push_suspicious)
    services.versions.delete(collection, "v1", by=cron)

    assert row(collection).suspicious_since is not None
