import os
import sys
from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.features.moves.migration import Migrator
from frepo_core.plugins import StorageUnavailable
from frepo_core.services.upkeep.storage import Ownership, verify
from frepo_core.testing import Fail, FaultyStorage


@pytest.fixture
def check(services):
    return lambda **options: verify(services.database, services.backends, **options)


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda path: path.write_bytes(b"two"), "its content is not what was stored"),
        (lambda path: path.write_bytes(b"on"), "it has 2 bytes, not 3"),
        (lambda path: path.write_bytes(b"one and more"), "it has 12 bytes, not 3"),
        (lambda path: os.truncate(path, 1 << 40), f"it has {1 << 40} bytes, not 3"),  # to read it takes hours
        (lambda path: path.unlink(), "the bytes are missing"),
    ],
)
def test_every_damage_is_found(check, add, path_of, harm, problem):
    add(b"sound")
    file = add(b"one")
    harm(path_of(file))

    report = check()

    assert [(file.blob.key, problem)] == [(each.key, each.problem) for each in report.damaged]


def test_damage_is_reported_and_never_deleted(check, add, path_of):
    path = path_of(add(b"one"))
    path.write_bytes(b"two")

    check()

    assert b"two" == path.read_bytes()


@pytest.mark.databases
def test_a_blob_that_is_good_again_loses_its_mark(check, add, path_of):
    path = path_of(add(b"one"))
    path.write_bytes(b"two")
    check()
    path.write_bytes(b"one")

    check()

    assert path == path_of(add(b"one"))


@pytest.mark.databases
def test_a_share_checks_the_blobs_with_the_oldest_checks(check, add, path_of):
    files = [add(bytes([number]) * 10) for number in range(4)]
    check()
    path_of(files[0]).write_bytes(b"x" * 10)

    found = [check(percent=25).damaged for _ in range(4)]

    assert [1, 0, 0, 0] == [len(damaged) for damaged in found]


@pytest.mark.databases
def test_daily_uploads_do_not_postpone_older_blobs(check, add, path_of):
    """The bytes of an upload were read when it was stored: blobs with older checks are checked first."""
    old = add(b"old")
    check()
    path_of(old).write_bytes(b"rot")
    for number in range(3):
        add(bytes([number]))

    assert [old.blob.key] == [each.key for each in check(percent=25).damaged]


@pytest.mark.databases
def test_recently_checked_blobs_are_skipped(check, add):
    add(b"one")
    check()

    assert 0 == check(older_than=timedelta(days=30)).checked


FUTURE = timedelta(days=365)
FUTURE_DATES = {
    "made": {"stored_at": utc_now() + FUTURE},
    "checked": {"read_at": utc_now() + FUTURE},
    "both": {"stored_at": utc_now() + FUTURE, "read_at": utc_now() + FUTURE},
}


@pytest.fixture
def date(services):
    """Set the check dates of all blobs, as a wrong clock does."""
    return lambda **values: services.database.write(
        lambda session: session.execute(update(StoredObject).values(**values))
    )


@pytest.mark.databases
@pytest.mark.parametrize("dates", FUTURE_DATES)
@pytest.mark.parametrize("older_than", [None, timedelta(days=30)])
def test_a_date_in_the_future_is_due(check, add, path_of, date, dates, older_than):
    file = add(b"one")
    date(**FUTURE_DATES[dates])
    path_of(file).write_bytes(b"two")

    assert [file.blob.key] == [each.key for each in check(older_than=older_than).damaged]
    path_of(file).write_bytes(b"one")
    assert [1, 0] == [check(older_than=timedelta(days=30)).checked for _ in range(2)], (
        "the check itself has a date that is right"
    )


@pytest.mark.databases
@pytest.mark.parametrize("dates", FUTURE_DATES)
def test_dates_in_the_future_come_first(check, add, path_of, date, dates):
    file = add(b"one")
    date(**FUTURE_DATES[dates])
    path_of(file).write_bytes(b"two")
    for number in range(3):
        add(bytes([number]))

    assert [file.blob.key] == [each.key for each in check(percent=25).damaged]


PAGE = 10


@pytest.fixture
def small_pages(monkeypatch):
    # The package exports the function of the same name.
    monkeypatch.setattr(sys.modules["frepo_core.services.upkeep.storage.verify"], "PAGE", PAGE)


@pytest.mark.databases
@pytest.mark.usefixtures("small_pages")
def test_more_blobs_than_a_page_are_all_checked_once(check, add):
    for number in range(PAGE + 1):
        add(str(number).encode())

    report = check()

    assert PAGE + 1 == report.checked


@pytest.mark.databases
@pytest.mark.usefixtures("small_pages")
def test_more_dates_in_the_future_than_a_page_are_all_checked_once(check, add, date):
    for number in range(3 * PAGE + 1):
        add(str(number).encode())
    date(**FUTURE_DATES["both"])

    assert 3 * PAGE + 1 == check().checked


@pytest.fixture
def first(services):
    """Return a progress callback that calls a function after the first blob."""

    def first(do):
        return lambda done, **_: do() if done == 1 else None

    return first


@pytest.mark.databases
def test_a_blob_that_is_deleted_meanwhile_is_not_damage(services, check, add, by, first):
    add(b"one")
    file = add(b"two")

    report = check(progress=first(lambda: services.files.delete(file.stored_name, "", by=by)))

    assert (1, []) == (report.checked, report.damaged)


def test_a_blob_that_is_moved_meanwhile_is_not_damage(services, check, add, memory_keys, first):
    add(b"one")
    add(b"two")
    migrator = Migrator(services.database, services.backends, source="local", target="memory")

    report = check(progress=first(lambda: migrator.run(purge=True)))

    # The second one was moved before it was its turn, and is read where it is now in the next run.
    assert (1, [], 2) == (report.checked, report.damaged, len(memory_keys()))
    assert (2, []) == ((report := check()).checked, report.damaged)


@pytest.mark.usefixtures("small_pages")
def test_a_blob_that_is_healed_meanwhile_does_not_hide_another(services, check, add, path_of, first):
    files = [add(str(number).encode()) for number in range(PAGE + 1)]

    def heal():
        path_of(files[1]).unlink()
        add(b"1")

    check(progress=first(heal))

    with services.database.reading() as session:
        assert [files[1].blob.digest] == session.scalars(
            select(StoredObject.digest).where(StoredObject.read_at.is_(None))
        ).all()


@pytest.mark.databases
@pytest.mark.usefixtures("small_pages")
def test_a_blob_that_is_added_meanwhile_does_not_replace_another(check, services, add, first):
    for number in range(PAGE + 1):
        add(str(number).encode())
    check()
    started = utc_now()

    check(progress=first(lambda: add(b"new")))

    with services.database.reading() as session:
        assert [] == session.scalars(select(StoredObject.key).where(StoredObject.read_at < started)).all()


def test_an_unreadable_blob_is_reported_and_the_others_are_checked(check, services, add, spoil):
    file = add(b"one")
    add(b"two")
    spoil(file)

    reports = [check(), check(older_than=timedelta(days=30))]

    assert [[(file.blob.key, "it cannot be read: [Errno 5] bad")]] * 2 == [
        [(each.key, each.problem) for each in report.damaged] for report in reports
    ]
    assert [2, 1] == [report.checked for report in reports]
    assert not services.files.find(file.stored_name).blob.is_damaged


def test_damage_is_logged_even_if_the_storage_fails_before_the_report(check, services, add, backend, path_of, caplog):
    file = add(b"one")
    add(b"two")
    path_of(file).write_bytes(b"two")
    services.backends._built["local"] = FaultyStorage(backend, Fail("open", nth=2), Fail("stat"))

    with pytest.raises(StorageUnavailable):
        check()

    assert f"blob {file.blob.key} in local is damaged: its content is not what was stored" in caplog.text


def test_damaged_blobs_are_read_each_night_and_first_and_heal(check, add, path_of, services):
    files = [add(content) for content in (b"one", b"two", b"three")]
    check()
    path_of(files[2]).write_bytes(b"THREE")
    check()
    old = utc_now() - timedelta(days=40)
    sound = update(StoredObject).where(StoredObject.state == "present").values(read_at=old)
    services.database.write(lambda session: session.execute(sound))

    night = {"older_than": timedelta(days=30)}
    assert [files[2].blob.key] == [each.key for each in check(percent=1, **night).damaged]
    path_of(files[2]).write_bytes(b"three")

    assert (3, []) == ((report := check(**night)).checked, report.damaged)
    assert not services.files.find(files[2].stored_name).blob.is_damaged


def test_verify_stops_at_an_exchanged_storage_and_marks_nothing(check, add, services, tmp_path):
    Ownership(services.database, services.backends).claim("local")
    files = [add(b"one"), add(b"two")]
    (tmp_path / "storage").rename(tmp_path / "disk")
    (tmp_path / "storage").mkdir()

    with pytest.raises(StorageUnavailable, match="is not the one it was"):
        check()

    assert not any(services.files.find(file.stored_name).blob.is_damaged for file in files)
