"""The built-in job that sweeps the storage."""

import os
import time
from dataclasses import replace
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import StorageMark
from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import BytesMissingError, SweepStoppedError
from frepo_core.plugins import LeaseLost
from frepo_core.services.upkeep.storage import Ownership, StorageDisputedError, SweepPlan, find_marks, sweep
from frepo_core.testing import FaultyStorage


class TestSweepBesideANeighbour:
    """Blobs of another service that left no mark, such as an older frepo, look like orphans."""

    @pytest.fixture
    def neighbour(self, add, orphan):
        """The bytes of a neighbour, stored three days ago, less than a fifth of all blobs."""
        for number in range(9):
            add(b"%d" % number)
        return orphan()

    def test_orphans_from_before_the_first_mark_are_left_with_an_advice(self, run, neighbour, caplog):
        for _ in range(2):
            summary = run("sweep")

            assert (0, 1) == (summary["orphans"], summary["left"])
            assert "frepo storage:sweep" in summary["advice"]
        assert neighbour.exists()
        assert "1 blobs without a record were left" in caplog.text

    def test_no_orphan_is_deleted_while_older_ones_are_undecided(self, services, run, neighbour, backend):
        run("sweep")
        younger = new_blob_key("cd" * 32)
        backend.store(younger, BytesIO(b"younger"), 7)
        days_passed = utc_now() - timedelta(days=5)
        services.database.write(lambda session: session.execute(update(StorageMark).values(made_at=days_passed)))
        os.utime(backend.path(younger), (time.time() - 3 * 86_400,) * 2)
        os.utime(neighbour, (time.time() - 6 * 86_400,) * 2)

        summary = run("sweep")

        assert (0, 2) == (summary["orphans"], summary["left"])
        assert backend.path(younger).exists()

    def test_orphans_from_after_the_first_mark_are_deleted(self, services, run, neighbour):
        run("sweep")
        before = utc_now() - timedelta(days=5)
        services.database.write(lambda session: session.execute(update(StorageMark).values(made_at=before)))

        summary = run("sweep")

        assert (1, 0) == (summary["orphans"], summary["left"])
        assert "advice" not in summary
        assert not neighbour.exists()

    def test_a_sweep_of_the_operator_deletes_them(self, services, run, neighbour):
        run("sweep")

        grace = timedelta(hours=48)
        report = sweep(services.database, services.backends, services.blobs, SweepPlan(storage="local", grace=grace))

        assert (1, 1) == (report.orphans, report.older)
        assert not neighbour.exists()

    def test_an_adoption_lets_the_job_delete_them(self, services, run, neighbour):
        run("sweep")

        Ownership(services.database, services.backends).adopt("local")

        assert 1 == run("sweep")["orphans"]
        assert not neighbour.exists()

    def test_the_age_is_measured_by_the_clock_of_the_storage(self, services, run, neighbour, backend, monkeypatch):
        """It is 9 days behind: for the database, a blob of the last days is older than the mark from before it."""

        class Slow(FaultyStorage):
            def list(self):
                return (self._shift(stat) for stat in super().list())

            def stat(self, key):
                return self._shift(super().stat(key))

            def _shift(self, stat):
                return replace(stat, modified=stat.modified - timedelta(days=9))

        services.backends._built["local"] = Slow(backend)
        run("sweep")
        with services.database.reading() as session:
            made_at = session.scalar(select(StorageMark.made_at))
        days_passed = update(StorageMark).values(made_at=made_at - timedelta(days=5))
        services.database.write(lambda session: session.execute(days_passed))

        assert 1 == run("sweep")["orphans"]


class TestSweep:
    @pytest.fixture(autouse=True)
    def owner(self, services):
        """The database marked the storage long ago, and owns all that is in it."""
        Ownership(services.database, services.backends).adopt("local")

    def test_old_blobs_without_a_row_are_deleted(self, run, add, orphan, events):
        for number in range(5):
            add(b"%d" % number)
        path = orphan()

        summary = run("sweep")

        assert (6, 1, 6) == (summary["blobs"], summary["orphans"], summary["orphan_size"])
        assert not path.exists()
        assert [] == events()

    def test_a_sweep_that_would_delete_more_than_a_fifth_fails_and_deletes_nothing(self, run, orphan):
        path = orphan()

        with pytest.raises(SweepStoppedError, match="would delete 1 of 1 blobs"):
            run("sweep")

        assert path.exists()

    def test_blobs_younger_than_48_hours_are_kept(self, run, add, orphan):
        for number in range(5):
            add(b"%d" % number)
        path = orphan()
        os.utime(path, (time.time() - 47 * 3600,) * 2)

        run("sweep")

        assert path.exists()

    def test_missing_bytes_fail_the_job(self, run, add, path_of):
        file = add(b"content")
        path_of(file).unlink()

        with pytest.raises(BytesMissingError, match=f"lacks the bytes of 1 records.*{file.blob.key}"):
            run("sweep")

    def test_a_dispute_fails_the_job_and_names_it_in_the_event(self, services, run, backend, events):
        run("sweep")
        [mark] = find_marks(backend)
        backend.delete(mark.key)

        with pytest.raises(StorageDisputedError, match="frepo storage:adopt"):
            run("sweep")

        assert [("storage.disputed", "system:sweep")] == events()

    def test_a_lost_lease_ends_the_sweep_before_it_deletes(self, run, add, orphan, at_each_piece):
        for number in range(5):
            add(b"%d" % number)
        path = orphan()
        checks = []

        def check():
            checks.append(1)
            if len(checks) == 7:  # after the listing of six blobs, before the deletion
                raise LeaseLost

        run.check = check
        with pytest.raises(LeaseLost):
            run("sweep")

        assert path.exists()
