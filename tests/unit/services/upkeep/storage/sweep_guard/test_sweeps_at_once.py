"""Marks after sweeps that ran at the same time, and after a sweep that was killed."""

import contextlib
from datetime import timedelta

import pytest

from frepo_core.services.base.failpoints import SWEEP_POINTS
from frepo_core.services.content.storages import sweep_guard
from frepo_core.services.upkeep.storage import StorageDisputedError


def test_two_copies_of_a_database_that_sweep_at_the_same_time_find_each_other(services, copied, clean, marks, own):
    clean(services)
    copy = copied(services)
    own(services).raise_epoch("local")
    own(copy).raise_epoch("local")

    found = marks(services)

    assert [1, 2, 2] == [mark.epoch for mark in found]
    for each in (services, copy):
        with pytest.raises(StorageDisputedError, match="copied"):
            own(each).confirm("local", found)


class KilledError(BaseException):
    """Stands for SIGKILL: nothing handles it."""


@pytest.mark.parametrize("sweeps_before", [0, 1, 2])
@pytest.mark.parametrize("point", SWEEP_POINTS)
def test_a_sweep_that_was_killed_at_any_point_is_followed_by_one_that_works(
    services, orphan, monkeypatch, point, sweeps_before, clean, marks, own
):
    def die(hit):
        if hit == point:
            raise KilledError

    for _ in range(sweeps_before):
        clean(services, grace=timedelta(days=9))
    with monkeypatch.context() as patch:
        patch.setattr(sweep_guard, "hit", die)
        for _ in range(2):  # twice at the same point
            with contextlib.suppress(KilledError):
                clean(services, grace=timedelta(days=9))
    assert orphan()

    clean(services)

    assert not orphan()
    assert [own(services).current("local")] == marks(services)


@pytest.mark.costly
@pytest.mark.databases
def test_sweeps_of_one_database_at_the_same_time_do_not_refuse_each_other(services, at_once, clean, marks, own):
    clean(services)

    results = at_once(lambda _: clean(services), range(4))

    assert [] == [result for result in results if isinstance(result, Exception)]
    assert own(services).current("local") in marks(services)
    clean(services)
    assert [own(services).current("local")] == marks(services)


@pytest.mark.databases
def test_processes_that_claim_at_the_same_time_do_not_refuse_each_other(services, at_once, clean, marks, own):
    assert [None] * 4 == at_once(lambda _: own(services).claim("local"), range(4))

    clean(services)

    assert 1 == len(marks(services))
