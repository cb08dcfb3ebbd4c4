from datetime import timedelta

import pytest

from frepo_core.services.upkeep import verify


@pytest.fixture
def check(services):
    return lambda **options: verify(services.database, services.storages, **options)


def test_sound_blobs_are_counted_and_not_reported(check, add):
    add(b"one")
    add(b"two!")

    report = check()

    assert (2, 7, []) == (report.checked, report.size, report.damaged)


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        (lambda path: path.write_bytes(b"two"), "its content is not what was stored"),
        (lambda path: path.write_bytes(b"on"), "it has 2 bytes, not 3"),
        (lambda path: path.write_bytes(b"one and more"), "it has 12 bytes, not 3"),
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


def test_a_damaged_blob_is_healed_by_the_next_upload_of_its_content(check, add, path_of):
    path_of(add(b"one")).write_bytes(b"two")
    check()

    healed = add(b"one")

    assert b"one" == path_of(healed).read_bytes()
    assert [] == check().damaged


def test_a_blob_that_is_sound_again_loses_its_mark(check, add, path_of):
    path = path_of(add(b"one"))
    path.write_bytes(b"two")
    check()
    path.write_bytes(b"one")

    check()

    assert path == path_of(add(b"one"))


def test_a_share_takes_those_that_were_checked_longest_ago(check, add, path_of):
    files = [add(bytes([number]) * 10) for number in range(4)]
    check()
    path_of(files[0]).write_bytes(b"x" * 10)

    found = [check(percent=25).damaged for _ in range(4)]

    assert [1, 0, 0, 0] == [len(damaged) for damaged in found]


def test_what_was_checked_since_is_left_out(check, add):
    add(b"one")
    check()

    report = check(older_than=timedelta(days=30))

    assert 0 == report.checked


def test_more_blobs_than_a_page_are_all_checked_once(check, add):
    for number in range(201):
        add(str(number).encode())

    report = check()

    assert 201 == report.checked
