"""Uploads that wait too long end, with an event; what is left of ended ones is cleared."""

import json
import os
import time
from datetime import timedelta

import pytest
from webtest import TestApp

from frepo_core.db import utc_now
from frepo_core.web import make_app
from frepo_uploads import expiry
from support.client import with_settings
from support.tus.client import Tus

HOURS = timedelta(hours=1)


@pytest.fixture
def path(tus, collection):
    return tus.create(100, b"abc", collection=collection)


def test_an_upload_ends_when_no_part_came_in_time(tus, path, run_job, events, tmp_path):
    early = run_job(utc_now() + 47 * HOURS)
    late = run_job(utc_now() + 49 * HOURS)

    assert (0, 1) == (early["expired"], late["expired"])
    assert [("uploads.expired", 3, 100)] == [(kind, data["received"], data["size"]) for kind, data in events()]
    assert 410 == tus.head(path).status_int
    assert [] == list((tmp_path / "uploads").glob("*.part"))


@with_settings(uploads__expire="2h")
def test_the_time_is_a_setting(tus, path, run_job):
    assert 1 == run_job(utc_now() + 3 * HOURS)["expired"]


def test_the_outcome_can_be_read_for_a_day(tus, collection, run_job):
    path = tus.create(3, b"abc", collection=collection)
    before = run_job(utc_now() + 23 * HOURS)
    shown = tus.show(path)["state"]
    run_job(utc_now() + 25 * HOURS)

    assert (0, "committed") == (before["forgotten"], shown)
    assert 404 == tus.head(path).status_int


def test_a_file_without_an_upload_is_deleted_when_it_is_old(path, run_job, tmp_path):
    folder = tmp_path / "uploads"
    for name in ("old", "new"):
        (folder / f"test-{name}.part").write_bytes(b"left by a crash")
    old = time.time() - expiry.FRESH - 1
    os.utime(folder / "test-old.part", (old, old))

    assert 1 == run_job()["files"]
    assert {"test-new.part", f"{path.rpartition('/')[2]}.part"} == {each.name for each in folder.glob("*.part")}


def test_a_lost_file_is_told_and_recorded(tus, path, events, tmp_path):
    (file,) = (tmp_path / "uploads").glob("*.part")
    file.unlink()

    assert (410, 410) == (tus.patch(path, 3, b"d").status_int, tus.head(path).status_int)
    assert ["uploads.lost"] == [kind for kind, data in events()]


def test_an_administrator_sees_and_ends_all_uploads(admin_tus, tus, path):
    shown = admin_tus.call("GET", "/api/v1/uploads").json["items"]

    assert [(3, 100)] == [(one["offset"], one["length"]) for one in shown]
    assert 204 == admin_tus.delete(path).status_int
    assert 410 == tus.head(path).status_int


def test_an_upload_that_another_host_has_is_never_answered_with_an_offset(tus, path):
    elsewhere = path.replace("test-", "other-")
    answers = [tus.head(elsewhere), tus.patch(elsewhere, 3, b"d"), tus.delete(elsewhere)]

    assert [503] * 3 == [answer.status_int for answer in answers]
    assert all("Upload-Offset" not in answer.headers and answer.headers["Retry-After"] for answer in answers)
    assert {"host": "other"} == answers[1].json["context"]


def test_a_process_ends_what_has_expired_in_its_folder_when_an_upload_is_made(
    services, tus, path, collection, tmp_path
):
    """The worker that leads may be on another host."""
    (record,) = (tmp_path / "uploads").glob("*.json")
    old = (utc_now() - 49 * HOURS).isoformat()
    record.write_text(json.dumps(json.loads(record.read_text()) | {"touched_at": old}))
    Tus(TestApp(make_app(services)), tus.token).create(5, collection=collection)

    assert 410 == tus.head(path).status_int
