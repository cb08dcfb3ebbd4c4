"""Uploads that are too large to be checked at once, and the job that finishes their checks."""

from datetime import timedelta

import pytest

from frepo_core.db import utc_now
from frepo_core.plugins import LeaseLost
from frepo_core.testing import FaultyStorage
from frepo_core.testing.faulty import Fail
from support.compressors import COMPRESSORS, rows, tar_of, zip_of

WHOLE = COMPRESSORS["gzip"]["gzip"](rows(20_000))


CUT = WHOLE[: len(WHOLE) // 2]


class TestLargeContents:
    @pytest.fixture
    def settings(self):
        return {"integrity.inline_limit": "1kB"}

    def test_it_is_pending_then_checked_by_the_job(self, root, collection, results, events, run_job):
        for content in (CUT, WHOLE):
            assert 200 == root.push(collection, content).status_int
        assert [(1, "pending", {"kinds": ["gzip"]}), (2, "pending", {"kinds": ["gzip"]})] == results()
        assert [] == events()

        assert {"broken": 1, "good": 1} == run_job()

        assert [(1, "broken", {"kind": "gzip", "kinds": ["gzip"]}), (2, "good", {"kinds": ["gzip"]})] == results()
        assert [(1, "broken", "system"), (2, "good", "system")] == events()
        assert {} == run_job()

    def test_the_service_has_the_job(self, root, collection, results, services):
        root.push(collection, WHOLE)

        result = services.jobs.run("integrity_deep", cause="console")

        assert ("good", {"good": 1}) == (result.outcome, result.summary)
        assert ["good"] == [outcome for _, outcome, _ in results()]

    def test_what_its_end_shows_is_found_at_once(self, root, collection, results):
        broken = [
            COMPRESSORS["xz"]["xz"](rows(20_000))[:-100],
            zip_of(rows(20_000))[:-100],
            tar_of(rows(20_000))[:15_000],
            b"-- MySQL dump 10.13  Distrib\n" + rows(20_000),
        ]
        for number, content in enumerate(broken, start=1):
            root.push(collection, content)

            assert (number, "broken") == results()[-1][:2]

    def test_a_version_that_was_deleted_is_left_out(self, root, collection, run_job):
        root.push(collection, WHOLE)
        root.delete(f"/repository/collection/{collection}/backup/v1")

        assert {} == run_job()

    def test_an_unreadable_content_delays_no_other(self, root, collection, results, run_job, services, caplog):
        for content in (WHOLE, CUT):
            root.push(collection, content)
        backend = services.backends.get("local")
        services.backends._built["local"] = FaultyStorage(backend, Fail("open"))

        # The smaller one comes first.
        assert {"unreadable": 1, "good": 1} == run_job()
        assert ["good", "pending"] == [outcome for _, outcome, _ in results()]
        assert "cannot be checked now" in caplog.text

        assert {"broken": 1} == run_job()

    def test_an_unreadable_content_is_given_up_after_a_day(self, root, collection, results, run_job, services):
        root.push(collection, WHOLE)
        services.backends._built["local"] = FaultyStorage(services.backends.get("local"), Fail("open", nth=0))

        assert {"unreadable": 1} == run_job(now=utc_now() + timedelta(hours=23))
        assert {"not checked": 1} == run_job(now=utc_now() + timedelta(hours=25))
        assert ["not checked"] == [outcome for _, outcome, _ in results()]

    def test_the_job_ends_when_another_worker_leads(self, root, collection, results, run_job):
        root.push(collection, WHOLE)

        def lost():
            raise LeaseLost

        with pytest.raises(LeaseLost):
            run_job(check_lease=lost)
        assert ["pending"] == [outcome for _, outcome, _ in results()]


class TestCommands:
    @pytest.fixture
    def settings(self):
        return {"integrity.command": "magic:CRATE = grep -q whole\nname:*.gz = false"}

    def test_the_job_runs_the_program_for_its_contents(self, root, collection, results, run_job):
        other = root.create(filename="crate").json["collection"]["id"]
        for content in (b"CRATE whole", b"CRATE cut", b"another"):
            root.push(other, content)
        root.push(collection, WHOLE)

        assert {"good": 1, "broken": 2} == run_job()
        assert [(1, "broken", {"kind": "command", "kinds": ["command"]})] == results()

    def test_a_finding_of_the_upload_is_not_run_again(self, root, collection, results):
        root.push(collection, CUT)

        assert ["broken"] == [outcome for _, outcome, _ in results()]


class TestTimeLimitOfTheJob:
    @pytest.fixture
    def settings(self):
        return {
            "integrity.inline_limit": "1kB",
            "integrity.deep_seconds": "0.001",
            "integrity.command": "magic:CRATE = sleep 60",
        }

    def test_a_version_that_takes_too_long_is_not_checked(self, root, collection, services, run_job):
        root.push(collection, COMPRESSORS["gzip"]["gzip"](bytes(20 << 20)))

        assert {"not checked": 1} == run_job()

        (result,) = services.version_checks.of_collection(collection)
        assert "The check takes longer than 0.001 seconds, see integrity.deep_seconds" == result.message
        assert {} == run_job()

    def test_a_program_gets_the_time_that_is_left(self, root, collection, services, run_job):
        root.push(collection, b"CRATE")

        assert {"not checked": 1} == run_job()

        (result,) = services.version_checks.of_collection(collection)
        assert "sleep took longer than 0" in result.message
