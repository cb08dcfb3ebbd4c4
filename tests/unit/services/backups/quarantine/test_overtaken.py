"""An upload that its client gave up and that ends after newer ones of the same token is put into quarantine.

That two uploads of one token overlap is no sign of that: several jobs may share it.
"""

from datetime import timedelta
from io import BytesIO

import pytest

from frepo_core.db import utc_now
from frepo_core.domain.roles import Role
from frepo_core.errors import CollectionFullError, VersionTooSmallError
from frepo_core.services.backups.rotation.overtaken import Sending
from support.model.quarantine import GOOD, RELEASE, SMALL


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
def push_late(services, push, cron):
    """Push with the token of the backup job while `meanwhile` happens; return the version.

    The connection ends before the answer, unless `more` says another sign.
    """

    def push_late(collection, meanwhile, content=GOOD + b"late", **more):
        noted = services.collections.get(collection).last_number
        sending = Sending(noted=noted, began_at=utc_now(), **more or {"is_gone": lambda: True})
        return push(collection, Hanging(content, meanwhile), by=cron, sending=sending).version

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


def test_uploads_that_merely_overlap_are_accepted(collection, push_late, push_nights):
    """Three jobs with one token, which all wait for their answers."""
    late = push_late(collection, lambda: push_nights(collection, 3), is_gone=lambda: False)

    assert late.quarantined_at is None


@pytest.mark.parametrize(
    ("content", "silence", "reason"),
    [
        (GOOD + b"1", timedelta(), "overtaken"),
        (GOOD + b"late", timedelta(), None),
        (GOOD + b"1", timedelta(hours=1), None),
        (GOOD + b"1", None, None),
    ],
    ids=["sent again", "another content", "silent only after the others had begun", "never silent"],
)
def test_the_same_content_after_a_silence_is_a_sign(collection, push_late, push_nights, content, silence, reason):
    silent = None if silence is None else utc_now() + silence

    late = push_late(collection, lambda: push_nights(collection, 2), content, silent_since=silent)

    assert reason == late.quarantine_reason


def test_the_same_content_of_another_client_is_no_sign(collection, push, push_late, push_nights, identify):
    def push_both():
        push(collection, GOOD + b"late", by=identify(Role.ADMINISTRATOR))
        push_nights(collection, 2)

    assert push_late(collection, push_both, silent_since=utc_now()).quarantined_at is None


def test_overtaken_versions_drive_out_none_in_quarantine(collection, push, push_late, push_nights, cron, numbers):
    for night in range(2):
        push(collection, SMALL + b"%d" % night, by=cron)
    for late in range(3):
        push_late(collection, lambda: push_nights(collection, 2), GOOD + b"late %d" % late)

    assert [3, 4, 10, 11, 12, 13] == numbers(collection)


def test_an_overtaken_version_stays_as_long_as_rotation_would_have_kept_it(
    make_collection, push, push_late, push_nights, cron, numbers
):
    collection = make_collection(4)
    for late in range(3):  # more than `quarantine.max`
        push_late(collection, lambda: push_nights(collection, 2), GOOD + b"late %d" % late)
    assert [3, 4, 5, 6, 7, 8, 9] == numbers(collection)

    kept = []
    for night in range(5):
        push(collection, GOOD + b"night %d" % night, by=cron)
        kept.append(numbers(collection))

    assert [[6, 9], [6, 9], [9], [9], []] == [[one for one in night if one in {3, 6, 9}] for night in kept]
    assert [5, 7, 8, 10] == [one for one in kept[0] if one not in {6, 9}]
    assert [11, 12, 13, 14] == kept[-1]


def test_the_size_of_an_overtaken_version_counts(make_collection, push, push_late, push_nights, cron, numbers, row):
    size = len(GOOD) + 1
    collection = make_collection(0, limits={"version_size": size, "total_size": 4 * size})
    push_late(collection, lambda: push_nights(collection, 2), GOOD + b"x")
    push(collection, GOOD + b"4", by=cron)
    assert [1, 2, 3, 4] == numbers(collection)

    push(collection, GOOD + b"5", by=cron)
    assert [2, 3, 4, 5] == numbers(collection)
    with pytest.raises(CollectionFullError):
        push_late(collection, lambda: push_nights(collection, 2), GOOD + b"y")
    assert ([4, 5, 6, 7], None) == (numbers(collection), row(collection).full_since)


def test_overtaken_versions_are_released_one_after_the_other(services, collection, push_late, push_nights, cron, row):
    push_late(collection, lambda: push_nights(collection, 2), GOOD + b"late")

    (held,) = services.version_edits.quarantined("overtaken", collection)
    services.version_edits.edit(collection, held.id, RELEASE, by=cron)

    assert (0, 0, 2) == (
        row(collection).quarantined_count,
        row(collection).quarantined_size,
        row(collection).versions_count,
    )
    assert held.id in {version.id for version in services.versions.list(collection)}


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
