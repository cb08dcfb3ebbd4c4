"""The process of the job is killed at each of its steps: the next run completes its work, and nothing is lost."""

import os
import signal

import pytest

from frepo_core.services.content.blobs import failpoints
from frepo_core.services.content.blobs.failpoints import MIRROR_POINTS
from support.scale import IS_BIG


@pytest.fixture
def run_and_die(services, mirror):
    """Run the job in a process that is killed at a point."""

    def run_and_die(point):
        child = os.fork()
        if not child:
            try:
                services.database.engine.dispose(close=False)
                failpoints._armed = point
                mirror()
            finally:
                os._exit(1)
        return os.waitpid(child, 0)[1]

    return run_and_die


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
    services.copy_reads.notes._start = lambda work: work()
    assert files[damaged] == services.stored_content.read(damaged.blob, 0, 5)
    files |= {add(b"new %d" % number): b"new %d" % number for number in range(3)}

    status = run_and_die(point)

    assert signal.SIGKILL == os.WTERMSIG(status)
    second.make_due()
    mirror()
    assert sorted(["gone"] + 10 * ["present"]) == sorted(second.states())
    assert second.present_keys() == second.stored()
    assert [] == services.mirror.verify().damaged
    for file, content in files.items():
        assert content == read(file)
        assert not services.files.find(file.stored_name).blob.is_damaged
