"""Second copies leave after their contents were deleted: later, and never many at once."""

import os
import time
from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.errors import SweepStoppedError
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.upkeep.storage import SweepPlan, sweep, verify_copies


@pytest.fixture
def files(add, mirror):
    files = [add(b"%d" % number) for number in range(10)]
    mirror()
    return files


@pytest.mark.databases
def test_the_copy_of_a_deleted_content_is_deleted(files, delete, mirror, second):
    delete(files[0])

    report = mirror()

    assert (1, 1) == (report["leaving"], report["deleted"])
    assert 9 == len(second.stored())
    assert 9 * ["present"] + ["gone"] == sorted(second.states(), key="present gone".index)


class TestWithADelay:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"mirror.delete_delay": "7d"}

    @pytest.fixture
    def days_pass(self, services):
        return lambda: services.database.execute(
            update(StoredObject)
            .where(StoredObject.state == "leaving")
            .values(delete_after=utc_now() - timedelta(days=1))
        )

    def test_it_stays_for_the_delay(self, files, delete, mirror, second, days_pass):
        delete(files[0])

        assert (1, 0) == (mirror()["leaving"], mirror()["deleted"])
        assert 10 == len(second.stored())

        days_pass()
        assert 1 == mirror()["deleted"]
        assert 9 == len(second.stored())

    def test_a_content_that_comes_back_takes_it(self, files, delete, add, mirror, second):
        before = second.stored()
        delete(files[0])
        mirror()

        add(b"0")
        report = mirror()

        assert (0, before) == (report["copied"], second.stored())
        assert 10 * ["present"] == second.states()

    @pytest.mark.costly
    def test_a_damaged_one_is_found_by_reading_it_and_stored_anew(self, services, files, delete, add, mirror, second):
        delete(files[0])
        mirror()
        [leaving] = [row.key for row in second.rows() if row.state == "leaving"]
        second.backend.path(leaving).write_bytes(b"x")

        add(b"0")
        verify_copies(services.database, services.backends, services.copies.storages())
        mirror()

        assert leaving not in second.stored()
        assert second.present_keys() == second.stored()

    @pytest.mark.costly
    def test_more_than_a_fifth_within_a_day_stops(self, services, files, delete, mirror, second, days_pass):
        for file in files[:2]:
            delete(file)
        mirror()
        days_pass()
        mirror()
        assert 8 == len(second.stored())
        delete(files[2])
        mirror()
        days_pass()

        with pytest.raises(SweepStoppedError, match="--yes-delete 1"):
            mirror()

        assert 8 == len(second.stored())
        services.feature(SecondCopyServices).mirror.confirm("second", 1)
        assert 1 == mirror()["deleted"]
        assert 7 == len(second.stored())
        delete(files[3])
        mirror()
        days_pass()
        with pytest.raises(SweepStoppedError):
            mirror()


def test_a_file_that_is_missing_in_the_first_storage_deletes_nothing(files, path_of, mirror, second):
    for file in files:
        path_of(file).unlink()

    assert 0 == mirror()["deleted"]
    assert 10 == len(second.stored())


def test_a_sweep_knows_the_copies(services, files, second, orphan):
    for key in second.stored():
        os.utime(second.backend.path(key), (time.time() - 9 * 86_400,) * 2)

    plan = SweepPlan(storage="second", grace=timedelta(hours=48))
    report = sweep(services.database, services.backends, services.blobs, plan)

    assert (10, 0) == (report.blobs, report.orphans)
    assert 10 == len(second.stored())
