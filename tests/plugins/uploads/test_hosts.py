"""An upload is on one host: the others know whether that host is there or gone."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from frepo_core.db import utc_now
from frepo_uploads.hosts import REMEMBER, Hosts

HOURS = timedelta(hours=1)
EXPIRE = 48 * HOURS


@pytest.fixture
def path(tus, collection):
    return tus.create(100, b"abc", collection=collection)


@pytest.fixture
def elsewhere(path):
    """The path of an upload on the host `other`."""
    return path.replace("test-", "other-")


@pytest.fixture
def note(services):
    """Let a host note that it is there, as the others do."""

    def note(ago, *, uploads=2, tag="other", place="its folder"):
        hosts = Hosts(services.contexts["uploads"], SimpleNamespace(tag=tag, id=place), EXPIRE)
        hosts.note(uploads, utc_now() - ago)

    return note


def test_an_upload_on_another_host_is_never_answered_with_an_offset(tus, elsewhere, note):
    note(47 * HOURS)
    answers = [tus.head(elsewhere), tus.patch(elsewhere, 3, b"d"), tus.delete(elsewhere)]

    assert [503] * 3 == [answer.status_int for answer in answers]
    assert all("Upload-Offset" not in answer.headers and answer.headers["Retry-After"] for answer in answers)
    assert {"host": "other"} == answers[1].json["context"]


def test_the_uploads_of_a_host_that_is_gone_have_ended(tus, path, elsewhere, note):
    note(49 * HOURS)
    answers = [tus.head(elsewhere), tus.patch(elsewhere, 3, b"d"), tus.delete(elsewhere)]

    assert [410] * 3 == [answer.status_int for answer in answers]
    assert 3 == tus.offset(path)


def test_there_is_one_event_about_a_host_that_is_gone(note, run_job, events):
    note(49 * HOURS)
    note(47 * HOURS, tag="alive", place="another folder")
    note(49 * HOURS, tag="idle", place="a third folder", uploads=0)

    assert [1, 0] == [run_job()["lost_hosts"] for _ in range(2)]
    assert [("uploads.host_lost", "other", 2)] == [(kind, data["host"], data["uploads"]) for kind, data in events()]


def test_a_host_that_comes_back_goes_on(tus, elsewhere, note, run_job, events):
    note(49 * HOURS)
    run_job()
    note(0 * HOURS)

    assert 503 == tus.head(elsewhere).status_int
    assert 0 == run_job()["lost_hosts"]
    assert 1 == run_job(utc_now() + 50 * HOURS)["lost_hosts"]


def test_hosts_that_share_a_folder_do_not_lose_each_others_uploads(tus, elsewhere, note, run_job):
    note(49 * HOURS)
    note(1 * HOURS, tag="third")

    assert 0 == run_job()["lost_hosts"]
    assert 503 == tus.head(elsewhere).status_int


def test_a_host_that_is_unknown_or_long_gone_has_nothing(tus, elsewhere, note, run_job):
    unknown = tus.head(elsewhere).status_int
    note(EXPIRE + REMEMBER + HOURS)
    run_job()

    assert (404, 404) == (unknown, tus.head(elsewhere).status_int)


def test_a_host_notes_what_it_has(services, tus, path, run_job):
    def noted():
        return services.contexts["uploads"].service.store.get("host/test").value["uploads"]

    counts = [noted()]
    tus.delete(path)
    for hours in (0, 25):
        run_job(utc_now() + hours * HOURS)
        counts.append(noted())

    assert [1, 0, 0] == counts
