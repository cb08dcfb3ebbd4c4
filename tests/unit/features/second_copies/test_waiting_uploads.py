"""An upload may wait for its second copy, and its answer says how many copies there are."""

import pytest

from frepo_core.services.base.records.file_records import CopyCount
from frepo_core.testing import Fail, Stall
from support.reliability.invariants import eventually


def count(present, wanted=2):
    return CopyCount(present=present, wanted=wanted)


def test_an_upload_has_one_copy_of_two(make_collection, push, add, mirror):
    collection = make_collection()

    assert count(1) == push(collection, b"version").version.file.blob.copies
    assert count(1) == add(b"file").blob.copies
    mirror()
    assert count(2) == push(collection, b"version").version.file.blob.copies, "of a known content"


class TestWithATimeToWait:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"mirror.wait": "1m"}

    @pytest.mark.databases
    def test_it_has_both_copies(self, make_collection, push, add, second, mirror):
        assert count(2) == push(make_collection(), b"version").version.file.blob.copies
        assert count(2) == add(b"file").blob.copies

        assert ["present", "present"] == second.states()
        assert second.present_keys() == second.stored()
        assert 0 == mirror()["copied"]

    def test_no_upload_is_refused_because_the_second_storage_is_away(self, add, second, mirror):
        mirror()
        second.fail(*(Fail(method, nth=0) for method in ("store", "stat", "open", "path")))

        for number in range(5):
            assert count(1) == add(b"%d" % number).blob.copies

        assert 5 * ["wanted"] == second.states()

    def test_what_the_job_has_begun_is_left_to_it(self, add, second, mirror):
        mirror()
        second.fail(Fail("store"))
        file = add(b"file")
        second.make_due()

        assert 1 == mirror()["copied"]
        assert ["present"] == second.states()
        assert file.blob.copies == count(1)


class TestWithAShortTime:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"mirror.wait": "1s"}

    def test_a_slow_copy_goes_on_after_the_answer(self, add, second, mirror):
        mirror()
        stall = Stall("store")
        second.fail(stall)

        file = add(b"file")

        assert count(1) == file.blob.copies
        assert 0 == mirror()["copied"], "the job does not make it a second time"
        stall.release.set()
        assert eventually(lambda: second.states() == ["present"])


class TestWithoutAMirror:
    @pytest.fixture
    def ini(self, ini):
        return ini | {"mirror": ""}

    def test_an_upload_costs_no_statement_and_says_nothing(self, add, at_statement):
        asked = []
        at_statement("UPDATE object", lambda: asked.append(1), nth=0)
        add(b"first")

        assert add(b"file").blob.copies is None
        assert [] == asked
