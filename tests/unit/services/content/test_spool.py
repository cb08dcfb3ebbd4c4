"""The memory of spools: all of them share a budget, and return what they took."""

from functools import partial

import pytest

from frepo_core.services.content.spool import MemoryBudget, Spool, plain_file

OVERFLOW = 100


@pytest.fixture
def budget():
    return MemoryBudget(150)


@pytest.fixture
def make_spool(services, tmp_path, budget):
    new_file = partial(plain_file, str(tmp_path), services.ingest.held, services.ingest.hashers)
    return lambda: Spool(OVERFLOW, new_file, budget)


def is_whole(budget):
    """Return whether the budget has exactly what it had at the start."""
    if not budget.take(150):
        return False
    is_exact = not budget.take(1)
    budget.give_back(150)
    return is_exact


def test_a_spool_for_which_no_memory_is_left_is_a_file_with_the_same_content(make_spool, budget):
    spools = [make_spool() for _ in range(3)]
    for spool in spools:
        for _ in range(8):
            spool.append(b"0123456789")
    bodies = [spool.getfile() for spool in spools]

    assert [False, True, True] == [hasattr(body, "sums") for body in bodies]
    assert {b"0123456789" * 8} == {body.read() for body in bodies}
    for spool in spools:
        spool.close()
    assert is_whole(budget)


def test_a_spool_that_becomes_a_file_returns_its_memory(make_spool, budget):
    spool = make_spool()
    spool.append(bytes(90))
    spool.append(bytes(90))

    assert is_whole(budget)
    assert 180 == len(spool.getfile().read())
    spool.close()


def test_a_spool_that_is_closed_twice_or_never_returns_its_memory_once(make_spool, budget):
    closed, lost = make_spool(), make_spool()
    closed.append(bytes(50))
    lost.append(bytes(50))
    closed.close()
    closed.close()
    del lost

    assert is_whole(budget)
