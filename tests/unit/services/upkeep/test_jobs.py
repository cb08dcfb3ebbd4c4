"""The built-in jobs that verify, sweep, remove tokens and analyse the database."""

import os
import time
from dataclasses import replace
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import select, text, update

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, Event, StorageMark, Token
from frepo_core.domain.naming import new_blob_key
from frepo_core.domain.roles import Role
from frepo_core.errors import BytesMissingError, StorageUnavailable, SweepStoppedError
from frepo_core.plugins import LeaseLost
from frepo_core.services.maintenance import OwnerMark, Ownership, StorageDisputedError, find_marks, sweep
from frepo_core.services.upkeep import rate_limit, upkeep_jobs
from frepo_core.testing import Fail, FaultyStorage


@pytest.fixture
def events(services):
    """Return the kinds and actors of all events of jobs."""

    def events():
        with services.database.reading() as session:
            query = select(Event).where(Event.actor.like("system:%")).order_by(Event.id)
            return [(row.kind, row.actor) for row in session.scalars(query)]

    return events


@pytest.fixture
def orphan(backend):
    """Store bytes without a row, dated three days ago."""

    def orphan():
        key = new_blob_key("ab" * 32)
        backend.store(key, BytesIO(b"orphan"), 6)
        path = backend.path(key)
        os.utime(path, (time.time() - 3 * 86_400,) * 2)
        return path

    return orphan


@pytest.fixture
def at_each_piece(monkeypatch):
    """Check the lease at each piece that is read, not once a second."""
    monkeypatch.setattr(rate_limit, "CHECK_SECONDS", 0)


def set_verified(services, days):
    when = utc_now() - timedelta(days=days)
    services.database.write(lambda session: session.execute(update(Blob).values(verified_at=when)))


def test_the_jobs_are_those_of_the_documentation(services):
    expected = {
        "verify": ("15 2 * * *", "long"),
        "sweep": ("45 3 * * *", "long"),
        "overdue": ("every 1m", "short"),
        "tokens": ("every 1h", "short"),
        "events": ("30 4 * * *", "short"),
        "database": ("0 5 * * 0", "long"),
        "samples": ("5 0 * * *", "short"),
        "restore_tests": ("off", "long"),
    }

    assert expected == {job.name: (job.schedule, job.lane) for job in upkeep_jobs(services)}
    assert all(job.summary for job in upkeep_jobs(services))


class TestVerify:
    def test_damage_is_marked_and_an_event(self, services, run, add, path_of, events):
        file = add(b"content")
        add(b"sound")
        path_of(file).write_bytes(b"CONTENT")

        summary = run("verify")

        assert (2, 12, 1) == (summary["checked"], summary["size"], summary["damaged"])
        assert [f"local {file.blob.key}: its content is not what was stored"] == summary["examples"]
        assert services.files.find(file.stored_name).blob.is_damaged
        assert [("blob.damaged", "system:verify")] == events()

    def test_blobs_that_were_checked_within_30_days_are_skipped(self, services, run, add):
        add(b"content")
        set_verified(services, days=29)
        assert 0 == run("verify")["checked"]
        set_verified(services, days=31)

        assert 1 == run("verify")["checked"]

    def test_a_run_that_was_interrupted_is_continued(self, services, run, add, at_each_piece):
        for number in range(5):
            add(b"%d" % number)
        seen = []

        def check():
            seen.append(1)
            if len(seen) == 4:
                raise LeaseLost

        run.check = check
        with pytest.raises(LeaseLost):
            run("verify")

        run.check = lambda: None
        assert 2 == run("verify")["checked"]

    def test_a_blob_that_cannot_be_read_fails_the_job_after_the_others_were_checked(self, services, run, add, backend):
        first = add(b"one")
        add(b"two")

        class BadSector(FaultyStorage):
            def open(self, key, start=0, length=None):
                content = super().open(key, start, length)
                bad = Fail("open", after=0, error=lambda: OSError(5, "bad"))
                return bad.wrap(content) if key == first.blob.key else content

        services.backends._built["local"] = BadSector(backend)

        with pytest.raises(StorageUnavailable, match=f"1 of 2 blobs could not be read.*{first.blob.key}"):
            run("verify")

        services.backends._built["local"] = backend
        assert not services.files.find(first.stored_name).blob.is_damaged
        assert 1 == run("verify")["checked"]

    def test_progress_is_reported(self, run, add):
        add(b"content")

        run("verify")

        assert ["1 of 1 blobs, 7.00B"] == run.notes


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
        report = sweep(services.database, services.backends, services.blobs, storage="local", grace=grace)

        assert (1, 1) == (report.orphans, report.older)
        assert not neighbour.exists()

    def test_an_adoption_lets_the_job_delete_them(self, services, run, neighbour):
        run("sweep")

        Ownership(services.database, services.backends).adopt("local")

        assert 1 == run("sweep")["orphans"]
        assert not neighbour.exists()

    def test_the_age_is_measured_by_the_clock_of_the_storage(self, services, run, neighbour, backend, monkeypatch):
        class Slow(FaultyStorage):
            def stat(self, key):
                found = super().stat(key)
                return replace(found, modified=found.modified - timedelta(days=9)) if OwnerMark.parse(key) else found

        services.backends._built["local"] = Slow(backend)

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


@pytest.mark.databases
def test_expired_tokens_are_removed_with_an_event(services, run, make_token, events):
    make_token(Role.UPLOAD_ALL, expires="+1 hour")
    kept = make_token(Role.UPLOAD_ALL)
    past = utc_now() - timedelta(minutes=1)
    change = update(Token).where(Token.expires_at.is_not(None)).values(expires_at=past)
    services.database.write(lambda session: session.execute(change))

    assert {"removed": 1} == run("tokens")
    assert {"removed": 0} == run("tokens")
    assert services.tokens.look_up(kept)
    assert [("token.expired", "system:tokens")] == events()


@pytest.mark.databases
def test_the_database_refreshes_its_statistics(services, run, add):
    for number in range(20):
        add(b"%d" % number)

    assert run("database")["tables"] > 10

    if services.database.engine.dialect.name == "sqlite":
        with services.database.reading() as session:
            assert session.scalar(text("SELECT stat FROM sqlite_stat1 WHERE tbl = 'blob' LIMIT 1")).startswith("20 ")


class TestReadOnly:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"read_only": "true"}

    @pytest.mark.parametrize("name", ["verify", "sweep", "tokens", "events", "database", "samples"])
    def test_a_read_only_service_changes_nothing(self, run, orphan, name):
        path = orphan()

        assert {"skipped": "the service is in read-only mode"} == run(name)
        assert path.exists()
