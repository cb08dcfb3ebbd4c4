"""Uploads of broken backups through the API."""

import threading
import time

import pytest

from frepo_integrity import inspection
from frepo_integrity.settings import KINDS
from support.compressors import COMPRESSORS, rows, tar_of, zip_of

WHOLE = COMPRESSORS["gzip"]["gzip"](rows(20_000))


CUT = WHOLE[: len(WHOLE) // 2]


def with_setting(**values):
    named = {f"integrity.{name}": value for name, value in values.items()}
    return pytest.mark.parametrize("settings", [named], ids=["-".join(values.values())])


def test_a_cut_gzip_is_accepted_and_recorded(root, collection, results, events):
    assert 200 == root.push(collection, CUT).status_int

    assert [(1, "broken", {"kind": "gzip", "kinds": ["gzip"]})] == results()
    ((number, outcome, _),) = events()
    assert (1, "broken") == (number, outcome)


def test_a_whole_one_is_good_and_an_unknown_one_is_not_checked(root, collection, results):
    for content in (WHOLE, b"any text", tar_of(rows(3000)), zip_of(rows(3000))):
        root.push(collection, content)

    assert [
        (1, "good", {"kinds": ["gzip"]}),
        (2, "not checked", {"kinds": []}),
        (3, "good", {"kinds": ["tar"]}),
        (4, "good", {"kinds": ["zip"]}),
    ] == results()


def test_files_outside_collections_are_not_checked(root, services):
    answer = root.upload(CUT, name="a.sql.gz")

    assert 200 == answer.status_int


@with_setting(gzip="refuse")
def test_a_cut_gzip_is_refused_if_the_setting_says_so(root, collection, results):
    answer = root.push(collection, CUT)

    assert (400, 4017) == (answer.status_int, answer.json["error_code"])
    assert "The check integrity found the content broken: The gzip data ends too early" in answer.json["message"]
    assert [] == results()
    assert 200 == root.push(collection, WHOLE).status_int
    assert 200 == root.push(collection, COMPRESSORS["xz"]["xz"](rows(9000))[:-50]).status_int


@with_setting(sql="refuse")
def test_the_kind_that_is_broken_decides(root, collection):
    """A whole gzip of a cut dump is broken as a dump; a cut gzip of one is broken as gzip."""
    dump = b"-- MySQL dump 10.13  Distrib\n" + rows(5000)
    pack = COMPRESSORS["gzip"]["gzip"]

    assert 400 == root.push(collection, pack(dump)).status_int
    assert 200 == root.push(collection, pack(dump)[:-5]).status_int
    assert 200 == root.push(collection, pack(dump + b"-- Dump completed\n")).status_int


@with_setting(gzip="off", tar="off")
def test_a_kind_that_is_off_is_not_checked(root, collection, results):
    root.push(collection, CUT)

    assert [(1, "not checked", {"kinds": ["gzip"]})] == results()


@with_setting(**dict.fromkeys(KINDS, "off"))
def test_nothing_is_recorded_if_all_kinds_are_off(root, collection, results):
    root.push(collection, CUT)

    assert [] == results()


class TestBusyThreads:
    @pytest.fixture
    def settings(self):
        return {"integrity.threads": "1", "quarantine.max": "100"}

    @pytest.fixture
    def busy(self, root, collection, monkeypatch):
        """An upload whose check is not done before the test ends."""
        entered, may_end = threading.Event(), threading.Event()

        def inspect_first(*arguments):
            if not entered.is_set():
                entered.set()
                may_end.wait(60)
            return inspection.inspect(*arguments)

        monkeypatch.setattr("frepo_integrity.upload_check.inspect", inspect_first)
        thread = threading.Thread(target=root.push, args=(collection, b"any text"))
        thread.start()
        entered.wait(60)
        yield
        may_end.set()
        thread.join()

    @pytest.mark.costly
    @pytest.mark.usefixtures("busy")
    def test_an_upload_waits_for_no_other_check(self, root, collection, results, run_job):
        started = time.monotonic()

        for number in range(20):
            root.push(collection, WHOLE + bytes(number))

        # A second for each, in which they would keep the threads of the service, is too long.
        assert time.monotonic() - started < 20
        assert [(number + 1, "pending", {"kinds": ["gzip"]}) for number in range(20)] == results()
        assert {"good": 20} == run_job()

    @pytest.mark.costly
    @with_setting(inline_seconds="0.01")
    def test_a_content_that_takes_too_long_is_pending(self, root, collection, results, run_job):
        content = COMPRESSORS["bzip2"]["python"](bytes(30_000_000)) * 20
        root.push(collection, content)

        assert [(1, "pending")] == [(number, outcome) for number, outcome, _ in results()]
