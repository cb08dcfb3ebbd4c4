"""Both sides are read and compared with their digests, and what is wrong on one is repaired from the other."""

import sys

import pytest
from sqlalchemy import select, update

from frepo_core.db.models import StoredObject
from frepo_core.errors import StorageUnavailable
from frepo_core.services.upkeep.full_checks import FIRST_SIDE, read_full_checks
from frepo_core.services.upkeep.storage import verify_copies
from frepo_core.testing import Fail


@pytest.fixture
def files(add, mirror):
    files = [add(b"content %d" % number) for number in range(6)]
    mirror()
    return files


@pytest.mark.databases
def test_a_wrong_and_a_missing_copy_are_found_and_made_again(services, files, second, mirror, kinds, monkeypatch):
    monkeypatch.setattr(sys.modules["frepo_core.services.upkeep.storage.verify"], "PAGE", 2)
    wrong, missing, *_ = second.stored()
    second.backend.path(wrong).write_bytes(b"CONTENT 0")
    second.backend.delete(missing)

    report = verify_copies(services.database, services.backends, services.copies.storages())

    assert (6, {wrong, missing}) == (report.checked, {damage.key for damage in report.damaged})
    assert {"damaged", "missing", "present"} == set(second.states())
    assert 2 == kinds().count("copy.damaged")
    assert 2 == mirror()["copied"]
    assert 6 * ["present"] == second.states()
    assert second.present_keys() == second.stored()
    assert [] == verify_copies(services.database, services.backends, services.copies.storages()).damaged


def test_the_job_reads_both_sides_and_notes_when_that_was(services, files, run, second, path_of):
    path_of(files[0]).write_bytes(b"CONTENT 0")
    old = (
        update(StoredObject)
        .where(StoredObject.id.in_([row.id for row in second.rows()[:2]]))
        .values(read_at=files[0].created_at.replace(year=2025))
    )
    services.database.execute(old)

    summary = run("verify")

    assert (6 + 2, 1) == (summary["checked"], summary["damaged"])
    with services.database.reading() as session:
        assert {FIRST_SIDE, "second"} == set(read_full_checks(session))


def test_a_copy_that_cannot_be_read_is_not_marked(services, files, second):
    second.fail(Fail("open", nth=1, error=lambda: OSError(5, "bad sector")))

    report = verify_copies(services.database, services.backends, services.copies.storages())

    assert [False] == [damage.is_marked for damage in report.damaged]
    assert (6, 6 * ["present"]) == (report.checked, second.states())


def test_a_second_storage_that_was_emptied_with_its_mark_is_not_the_one_it_was(services, files, second, tmp_path):
    for path in (tmp_path / "second").rglob("*-*"):
        path.unlink()

    with pytest.raises(StorageUnavailable, match="not the one it was"):
        verify_copies(services.database, services.backends, services.copies.storages())

    assert 6 * ["present"] == second.states()


def test_an_emptied_second_storage_with_its_mark_is_filled_again(services, files, second, mirror):
    for key in second.stored():
        second.backend.delete(key)

    assert 6 == len(verify_copies(services.database, services.backends, services.copies.storages()).damaged)
    assert 6 == mirror()["copied"]
    with services.database.reading() as session:
        current = select(StoredObject.id).where(StoredObject.storage == "second", StoredObject.slot == 1)
        assert 6 == len(session.scalars(current).all())
