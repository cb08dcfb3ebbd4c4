"""`frepo-client wal`: what archive_command and restore_command run, and what PostgreSQL makes of the exit status."""

import os
import time
import uuid

import pytest

from support.servers.processes import free_port
from support.wal import MIB, name, segment

MISSING, FATAL = 1, 125


@pytest.fixture
def archive(machine):
    """The id of an archive that the token may use, with segments 3 to 9."""
    made = machine.call("POST", "collections", {"name": "shop.wal", "strategy": "wal", "limits": {"versions": 0}})
    machine.call("PUT", f"collections/{made['id']}/access/{machine.fingerprint}")
    for index in range(3, 10):
        push(machine, made["id"], index)
    return made["id"]


def push(machine, archive, index, check=0, content=None, *more):
    folder = machine.home / "pg_wal"
    (folder / "archive_status").mkdir(parents=True, exist_ok=True)
    (folder / "archive_status" / f"{name(index)}.ready").touch()
    (folder / name(index)).write_bytes(content or segment(index))
    return machine.run("wal", "push", f"pg_wal/{name(index)}", name(index), "--collection", archive, *more, check=check)


def fetch(machine, archive, file, check=0, *more, **environment):
    words = ("wal", "fetch", file, "pg_wal/RECOVERYXLOG", "--collection", archive, *more)
    done = machine.run(*words, check=None, **environment)
    assert done.returncode == check if isinstance(check, int) else done.returncode > FATAL, done
    return done


def fetched(machine):
    return (machine.home / "pg_wal/RECOVERYXLOG").read_bytes()


def test_a_segment_is_pushed_again_and_fetched(machine, archive):
    push(machine, archive, 3)
    fetch(machine, archive, name(3))

    assert segment(3) == fetched(machine)
    assert 7 == machine.call("GET", f"collections/{archive}/wal")["waiting"]


def test_other_content_is_not_archived(machine, archive):
    done = push(machine, archive, 3, check=40, content=segment(3, fill=b"x"))

    assert b"with other content" in done.stderr


@pytest.mark.parametrize("coding", ["gzip"])
def test_a_segment_may_be_compressed_on_the_way(machine, archive, coding):
    push(machine, archive, 12, 0, None, "--content-encoding", coding)
    fetch(machine, archive, name(12))

    assert segment(12) == fetched(machine)


def test_a_file_that_the_archive_has_not_is_missing_and_nothing_else_is(machine, archive):
    fetch(machine, archive, name(99), MISSING)
    fetch(machine, archive, "00000002.history", MISSING)
    other = "0" * 8 + "-0000-4000-8000-" + "0" * 12
    fetch(machine, other, name(3), "fatal")
    fetch(machine, archive, "nonsense", "fatal")
    fetch(machine, machine.collection, name(3), "fatal")
    fetch(machine, archive, name(3), "fatal", "--unknown-option")
    fetch(machine, archive, name(3), "fatal", FREPO_TOKEN_FILE=str(machine.home / "none"))
    (machine.home / "wrong").write_text(str(uuid.uuid4()))
    fetch(machine, archive, name(3), "fatal", FREPO_TOKEN_FILE=str(machine.home / "wrong"))

    assert not (machine.home / "pg_wal/RECOVERYXLOG").exists()


def test_a_service_that_cannot_be_reached_is_not_the_end_of_the_archive(machine, archive):
    words = ("--retry", "1s", "wal", "fetch", name(3), "pg_wal/RECOVERYXLOG", "--collection", archive)

    done = machine.run(*words, check=None, FREPO_URL=f"http://127.0.0.1:{free_port()}")

    assert done.returncode > FATAL


def test_a_client_that_cannot_be_loaded_is_not_the_end_of_the_archive(machine, archive):
    broken = machine.home / "broken"
    broken.mkdir()
    (broken / "argparse.py").write_text("raise ImportError('not here')")

    done = fetch(machine, archive, name(3), "fatal", PYTHONPATH=str(broken))

    assert b"frepo-client cannot be loaded: not here" in done.stderr
    assert 2 == machine.run("--version", check=None, PYTHONPATH=str(broken)).returncode


def test_a_full_disk_is_not_the_end_of_the_archive(machine, archive):
    words = ("wal", "fetch", name(3), "/dev/full/none", "--collection", archive)

    assert machine.run(*words, check=None).returncode > FATAL


def test_a_planted_link_is_not_followed(machine, archive):
    victim = machine.home / "victim"
    victim.write_text("precious")
    (machine.home / "pg_wal/.frepo-wal").mkdir()
    planted = ["RECOVERYXLOG.part", ".frepo-wal/lock", f".frepo-wal/{name(4)}.part"]
    for path in planted:
        (machine.home / "pg_wal" / path).symlink_to(victim)

    fetch(machine, archive, name(3))
    fetch(machine, archive, name(4))

    assert segment(4) == fetched(machine)
    assert "precious" == victim.read_text()
    assert 0o600 == (machine.home / "pg_wal/RECOVERYXLOG").stat().st_mode & 0o777


def test_the_next_segments_are_fetched_in_advance_and_forgotten(machine, archive):
    early = machine.home / "pg_wal/.frepo-wal"

    fetch(machine, archive, name(3))
    deadline = time.monotonic() + 30
    while not (early / name(9)).exists() or list(early.glob("*.part")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    inode = (early / name(4)).stat().st_ino
    fetch(machine, archive, name(4), 0, "--prefetch", "0")

    assert segment(4) == fetched(machine)
    assert inode == (machine.home / "pg_wal/RECOVERYXLOG").stat().st_ino
    assert {name(index) for index in range(5, 10)} == {one for one in os.listdir(early) if one != "lock"}
    fetch(machine, archive, name(9), 0, "--prefetch", "0")
    assert ["lock"] == os.listdir(early)
    assert MIB == len(fetched(machine))
