"""Uploads, evictions, restores and deletions go on while the job runs: every version can be read."""

import random
import threading
from contextlib import suppress

import pytest

from frepo_core.errors import FrepoError
from frepo_core.features.compact import survey
from frepo_core.features.compact.encoder_process import EncoderProcess, EncodingError
from frepo_core.features.compact.feature import CompactServices
from frepo_core.services.backups.versions.version_edits import VersionChange
from support.scale import IS_BIG

pytestmark = pytest.mark.databases
CHANGES = 60 if IS_BIG else 8


def change(history, chance, collection):
    """Do one thing that a client may do."""
    services, by = history.services, history.by
    numbers = sorted(history.rows(collection))
    what = chance.choice(["push", "push", "again", "delete", "restore", "pin"])
    if what == "push":
        history.push(collection, hours=20)
    elif what == "again":
        history.push(collection, history.contents[collection][chance.choice(numbers)], hours=20)
    elif what == "delete" and len(numbers) > 3:
        services.versions.delete(collection, f"v{chance.choice(numbers[:-1])}", by=by)
    elif what == "pin":
        version = services.versions.find(collection, f"v{chance.choice(numbers)}")
        services.version_edits.edit(collection, version.id, VersionChange(pinned=True), by=by)
    elif entries := services.trash.list(collection):
        services.trash.restore(collection, chance.choice(entries).number, by=by)


def test_changes_between_the_plan_and_the_switch(history, services, monkeypatch):
    """A change comes right before each switch: the transaction decides by what is true then."""
    chance, collection = random.Random(3), history.make(count=8)
    for _ in range(8):
        history.push(collection)
    replace, left = services.feature(CompactServices).switch.replace, [CHANGES]

    def replace_late(*arguments, **more):
        if left[0]:
            left[0] -= 1
            with suppress(FrepoError):
                change(history, chance, collection)
        return replace(*arguments, **more)

    monkeypatch.setattr(services.feature(CompactServices).switch, "replace", replace_late)
    for _ in range(40):
        if not left[0]:
            break
        history.push(collection)
        summary = history.job()
        assert 0 == summary["failed"]
        history.check()
    assert not left[0]


@pytest.mark.costly
def test_a_version_leaves_while_its_collection_is_read(history, monkeypatch):
    collection, read_users, left = history.make(), survey.read_users, ["v2", "v1"]
    for _ in range(4):
        history.push(collection)

    def read_late(*arguments):
        if left:
            history.delete(collection, left.pop())
            history.job("trash", days=5)
        return read_users(*arguments)

    monkeypatch.setattr(survey, "read_users", read_late)
    history.job()
    history.job()

    assert not left
    assert [3, 4] == list(history.rows(collection))
    history.check()


@pytest.mark.costly
def test_what_is_deleted_while_it_is_read_is_no_failure(history, services, monkeypatch):
    collection, left = history.make(), ["v1"]
    for _ in range(4):
        history.push(collection)

    def fail_late(*arguments):
        if left:
            history.delete(collection, left.pop())
            history.job("trash", days=5)
        raise EncodingError("the objects of the content are missing")

    with monkeypatch.context() as patched:
        patched.setattr(EncoderProcess, "encode", fail_late)
        summary = history.job()
    assert (1, 2) == (summary["skipped"], summary["failed"])
    history.job()
    left.append("v2")
    monkeypatch.setattr(EncoderProcess, "encode", fail_late)

    report = services.feature(CompactServices).compaction.expand_all(keep_going=lambda: None)

    assert (1, 0, 1) == (report.skipped, report.failed, report.expanded)
    history.check()


def test_uploads_and_deletions_go_on_meanwhile(history, services):
    collection, stop, errors = history.make(count=6), threading.Event(), []
    for _ in range(6):
        history.push(collection)

    def work():
        try:
            while not stop.is_set():
                history.job()
        except BaseException as error:  # noqa: BLE001  # shown by the test
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        chance = random.Random(5)
        for _ in range(CHANGES):
            with suppress(FrepoError):
                change(history, chance, collection)
            history.job("trash")
    finally:
        stop.set()
        thread.join()

    assert [] == errors
    history.night(collection)
    history.check()
