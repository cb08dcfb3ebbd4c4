"""The command `storage:adopt`, and sweeps that a dispute or a kill stopped."""

import contextlib
import json
import os
import sqlite3
import time

import pytest

from frepo_core.domain.naming import new_blob_key
from frepo_core.services.base.failpoints import ENVIRONMENT
from frepo_core.services.upkeep.storage import OwnerMark

ORPHAN = new_blob_key("ab" * 32)


def marks(folder):
    found = [OwnerMark.parse(f"{path.parent.name}/{path.name}") for path in folder.glob("storage/*/*")]
    return sorted(mark.epoch for mark in found if mark)


@pytest.fixture
def orphan(console):
    """Store an old blob without a row among four with rows; return its path."""
    path = console.folder / "storage" / ORPHAN
    path.parent.mkdir(parents=True)
    path.write_bytes(b"orphan")
    when = time.time() - 3 * 86_400
    os.utime(path, (when, when))
    return path


@pytest.fixture
def restored(console, orphan):
    """An environment with a database that is older than the last sweep, as after a restore."""
    console.answer("storage:sweep", "--grace", "9d")
    copy = console.folder / "old.db"
    with (
        contextlib.closing(sqlite3.connect(console.database)) as source,
        contextlib.closing(sqlite3.connect(copy)) as target,
    ):
        source.backup(target)
    console.answer("storage:sweep", "--grace", "9d")
    return {"DATABASE_URL": f"sqlite:///{copy}"}


def test_a_restored_database_sweeps_nothing_until_it_has_adopted_the_storage(console, restored, orphan):
    said = console.refusal("storage:sweep", "--yes-delete", "1", **restored)

    assert "its epoch is 2, that of this database is 1" in said
    assert "frepo storage:adopt --storage local" in said
    assert orphan.exists()

    shown = console.answer("storage:adopt", "--yes", **restored)

    assert "epoch 2, written by" in shown
    assert "1 blobs; 1 of them (6 bytes) are unknown to this database" in shown
    assert "belongs to this database now, with the epoch 3" in shown
    assert "the unknown blobs are kept for 30 days" in shown
    assert "frepo recover --merge local" in shown
    assert "sweeps delete" not in shown
    swept = json.loads(console.answer("storage:sweep", "--yes-delete", "1", "-f", "json", **restored))
    assert (0, 1) == (swept["orphans"], swept["kept"])
    assert orphan.exists()
    arguments = ("storage:sweep", "--unknown", "--yes-delete", "1", "-f", "json")
    assert 1 == json.loads(console.answer(*arguments, **restored))["orphans"]
    assert not orphan.exists()


def test_without_a_terminal_the_option_yes_is_required(console, restored):
    done = console.run("storage:adopt", **restored)

    assert 1 == done.returncode
    assert "--yes: is required" in done.stderr
    assert [2] == marks(console.folder)


def test_the_only_owner_has_nothing_to_adopt(console, restored, orphan):
    orphan.unlink()

    assert "no other database has marked" in console.answer("storage:adopt")
    assert [2] == marks(console.folder)


def test_blobs_from_before_the_first_mark_are_shown_and_adopted(console, restored):
    assert 1 == json.loads(console.answer("storage:sweep", "--dry-run", "-f", "json"))["older_orphans"]

    shown = console.answer("storage:adopt", "--yes")

    assert "1 of the unknown ones are older than the first mark of this database" in shown
    assert "with the epoch 3" in shown
    assert 0 == json.loads(console.answer("storage:sweep", "--dry-run", "-f", "json"))["older_orphans"]


def test_a_dry_run_of_a_disputed_sweep_names_the_problem_and_fails(console, restored):
    done = console.run("storage:sweep", "--dry-run", "-f", "json", **restored)

    assert 1 == done.returncode
    assert "restored from an old backup" in json.loads(done.stdout)["dispute"]


@pytest.mark.parametrize("point", ["mark_recorded", "mark_stored", "mark_current"])
def test_a_sweep_works_after_one_that_was_killed(console, orphan, point):
    console.answer("storage:sweep", "--grace", "9d")

    killed = console.run_script("storage:sweep", "--yes-delete", "1", **{ENVIRONMENT: point})

    assert -9 == killed.returncode
    assert orphan.exists()
    console.answer("storage:sweep", "--yes-delete", "1")
    assert not orphan.exists()
    assert 1 == len(marks(console.folder))
