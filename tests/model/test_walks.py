"""Walks each small world completely: no state and no step breaks a promise. The numbers of states are printed."""

import pytest

from model.walk import World, walk
from model.worlds import LONG, SHORT
from support.scale import IS_BIG


@pytest.mark.parametrize("world", SHORT.values(), ids=SHORT.keys())
def test_in_every_state_of_a_small_world_the_promises_hold(world: World, capfd: pytest.CaptureFixture[str]):
    found = walk(world)

    with capfd.disabled():
        print(f" {found.states} states")
    assert found.violation is None, found


@pytest.mark.skipif(not IS_BIG, reason="only in the long form: FREPO_TEST_BIG=1")
@pytest.mark.parametrize("world", LONG.values(), ids=LONG.keys())
def test_in_every_state_of_a_larger_world_the_promises_hold(world: World, capfd: pytest.CaptureFixture[str]):
    found = walk(world)

    with capfd.disabled():
        print(f" {found.states} states")
    assert found.violation is None, found
