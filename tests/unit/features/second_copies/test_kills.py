"""The process of the job is killed at each of its steps: the next run completes its work, and nothing is lost."""

import pytest

from frepo_core.services.base.failpoints import MIRROR_POINTS
from frepo_core.services.upkeep.storage import verify_copies
from support.scale import IS_BIG


@pytest.mark.parametrize("point", MIRROR_POINTS if IS_BIG else ("copy_stored", "copies_gone", "first_repaired"))
def test_a_killed_run_is_completed_by_the_next(
    services, add, mirror, delete, path_of, read, second, run_and_die, point
):
    files = {add(b"old %d" % number): b"old %d" % number for number in range(8)}
    mirror()
    deleted, damaged, *_ = files
    delete(deleted)
    del files[deleted]
    path_of(damaged).write_bytes(b"XXXXX")
    services.object_reads.notes._start = lambda work: work()
    assert files[damaged] == services.stored_content.read(damaged.blob, 0, 5)
    files |= {add(b"new %d" % number): b"new %d" % number for number in range(3)}

    run_and_die(mirror, point)

    second.make_due()
    mirror()
    assert sorted(["gone"] + 10 * ["present"]) == sorted(second.states())
    assert second.present_keys() == second.stored()
    assert [] == verify_copies(services.database, services.backends, services.copies.storages()).damaged
    for file, content in files.items():
        assert content == read(file)
        assert not services.files.find(file.stored_name).blob.is_damaged
