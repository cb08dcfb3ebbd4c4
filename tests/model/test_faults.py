"""With any guard turned off, a walk finds what that breaks, and tells the shortest story. Their lengths are printed."""

from dataclasses import fields, replace

import pytest

from model.faults import OTHERS, SEEN, Fault
from model.guards import Guards
from model.walk import walk

FAULTS = SEEN | OTHERS


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_walk_finds_each_deliberate_fault(fault: Fault, capfd: pytest.CaptureFixture[str]):
    found = walk(fault.world, replace(Guards(), **{fault.guard: False}))

    with capfd.disabled():
        print(f" {len(found.story)} steps")
    assert found.violation is not None and found.violation.startswith(fault.breaks), found


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_with_its_guard_the_same_world_is_sound(fault: Fault):
    assert walk(fault.world).violation is None


def test_each_guard_has_its_fault():
    assert {fault.guard for fault in FAULTS.values()} == {field.name for field in fields(Guards)}
