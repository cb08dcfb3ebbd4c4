"""Uploads that are too large to be checked at once, and the job that finishes their checks."""

from pathlib import Path

import pytest

from frepo_core.plugins import LeaseLost
from frepo_core.testing import FaultyStorage
from frepo_core.testing.faulty import Fail
from frepo_integrity import deep_check
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

        # The older one comes first.
        assert {"unreadable": 1, "broken": 1} == run_job()
        assert ["pending", "broken"] == [outcome for _, outcome, _ in results()]
        assert "cannot be checked now" in caplog.text

        assert {"good": 1} == run_job()

    def test_an_unreadable_content_is_never_condemned(self, root, collection, results, run_job, services):
        root.push(collection, WHOLE)
        backend = services.backends.get("local")
        services.backends._built["local"] = FaultyStorage(backend, Fail("open", nth=0))

        assert [{"unreadable": 1}] * 5 == [run_job() for _ in range(5)]
        assert ["pending"] == [outcome for _, outcome, _ in results()]

        services.backends._built["local"] = backend
        assert {"good": 1} == run_job()

    @pytest.mark.parametrize("damage", [lambda data: data[:-100], lambda data: data[:900] + b"damaged" + data[907:]])
    def test_damaged_bytes_of_the_storage_condemn_nothing(self, root, collection, results, run_job, ini, damage):
        root.push(collection, WHOLE)
        (stored,) = (path for path in Path(ini["fs.local.directory"]).rglob("*-*") if path.stat().st_size == len(WHOLE))
        stored.chmod(0o600)
        stored.write_bytes(damage(WHOLE))

        assert {"unreadable": 1} == run_job()
        assert ["pending"] == [outcome for _, outcome, _ in results()]

    def test_a_fault_of_the_check_condemns_nothing(self, root, collection, results, run_job, monkeypatch):
        def fail(*arguments):
            raise ZeroDivisionError

        root.push(collection, WHOLE)
        monkeypatch.setattr(deep_check, "inspect", fail)

        assert {"not checked": 1} == run_job()

    def test_a_check_that_condemns_too_many_ends_the_job_after_all_others(self, root, collection, run_job, monkeypatch):
        others = [root.create(filename="db.sql.gz").json["collection"]["id"] for _ in range(2)]
        for each in (collection, *others):
            root.push(each, WHOLE)
        record_check = deep_check._record

        def fail_once(check, found, context):
            if check.collection_id == collection:
                raise RuntimeError("too many")
            return record_check(check, found, context)

        monkeypatch.setattr(deep_check, "_record", fail_once)

        with pytest.raises(RuntimeError, match="too many"):
            run_job()
        monkeypatch.undo()
        assert {"good": 1} == run_job()

    def test_the_result_is_a_verdict(self, root, collection, run_job):
        dump = b"-- MySQL dump 10.13  Distrib\n" + rows(9000) + b"-- Dump completed\n"
        root.push(collection, WHOLE)
        root.push(collection, COMPRESSORS["gzip"]["gzip"](dump))
        run_job()

        found = root.get(f"/api/v1/collections/{collection}/versions").json["items"]
        assert {1: "whole", 2: "complete"} == {one["number"]: one["verdict"] for one in found}

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

    @pytest.mark.costly
    def test_a_version_that_takes_too_long_is_tried_three_times(self, root, collection, services, run_job):
        content = COMPRESSORS["gzip"]["gzip"](bytes(20 << 20))
        root.push(collection, content)
        seconds = 0.001 + len(content) / 10_000_000
        messages = []
        for _ in range(3):
            assert {"pending": 1} == run_job()
            messages += [one.message for one in services.version_checks.of_collection(collection)]

        text = "The check takes longer than {} seconds, see integrity.deep_seconds"
        assert [text.format(f"{seconds * turn:.3g}") for turn in (1, 2)] == messages[:2]
        assert f"unjudged after 3 attempts: {text.format(f'{seconds * 4:.3g}')}" == messages[2]
        (result,) = services.version_checks.of_collection(collection)
        assert "suspicious" == result.outcome
        assert {} == run_job()

    def test_a_program_gets_the_time_that_is_left(self, root, collection, services, run_job):
        root.push(collection, b"CRATE")

        assert {"pending": 1} == run_job()


class TestTurns:
    @pytest.fixture
    def settings(self):
        return {
            "integrity.inline_limit": "1",
            "integrity.deep_seconds": "0.3",
            "integrity.max_ratio": "1e9",
        }

    @pytest.mark.costly
    def test_a_sender_of_costly_contents_holds_up_no_other(self, root, collection, services, run_job):
        costly = COMPRESSORS["bzip2"]["python"](bytes(30_000_000))
        other = root.create(filename="small.sql.gz").json["collection"]["id"]
        for number in range(20, 22):
            root.push(collection, costly * number)
        root.push(other, COMPRESSORS["gzip"]["python"](rows(10_000)))

        assert {"pending": 2, "good": 1} == run_job()

        (small,) = services.version_checks.of_collection(other)
        large = services.version_checks.of_collection(collection)
        assert "good" == small.outcome
        assert small.at < max(one.at for one in large)  # the second one has to wait
