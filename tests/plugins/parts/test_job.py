"""The job that lists large contents before somebody asks."""

import time

import pytest

from frepo_core.db import utc_now
from frepo_core.plugins import JobContext
from frepo_parts import job
from support.wire import eventually

from .test_requests import SQL

KINDS = ["version.added", "version.deleted"]
LIMIT = 300
NO_DUMP = b"no dump at all".ljust(LIMIT + 1)
LARGE = SQL.replace(b"VALUES(2)", b"VALUES(%s)" % (b"2" * 100))


@pytest.fixture
def frepo_service_settings(tmp_path):
    return {"parts.directory": str(tmp_path / "parts"), "parts.inline_limit": str(LIMIT), "jobs.parts": "off"}


@pytest.fixture
def lists(tmp_path):
    """Return the names of the lists that are kept."""
    return lambda: sorted(path.name for path in (tmp_path / "parts").glob("??/*"))


@pytest.fixture
def push(frepo_service):
    """Push contents, each to a collection of its own, and wait until their events have a position."""

    def push(*contents):
        made = [frepo_service.make_collection(filename="shop.sql") for _ in contents]
        for collection, content in zip(made, contents, strict=True):
            assert 200 == frepo_service.push(collection, content).status
        expected = push.count = push.count + len(contents)
        assert expected == eventually(expected, lambda: len(_events(frepo_service)))
        return made

    push.count = 0
    return push


def _events(service):
    return service.context("parts").service.events(kinds=KINDS)


@pytest.fixture
def run(frepo_service):
    """Run the job at a time, by default now; return its summary."""
    own = frepo_service.context("parts")

    def run(now=None):
        context = JobContext(
            settings=own.settings,
            service=own.service,
            log=own.log,
            now=now or utc_now(),
            check_lease=lambda: None,
            progress=lambda text: None,
        )
        return job.run(context)

    return run


def test_it_lists_what_has_arrived_and_forgets_what_left(frepo_service, push, run, lists):
    (sql,) = push(LARGE)

    assert {"listed": 1} == run()
    push(NO_DUMP)
    assert {"none": 1} == run()
    assert {} == run()
    assert 2 == len(lists())
    frepo_service.request("DELETE", f"/api/v1/collections/{sql}/versions/v1")
    eventually(3, lambda: len(_events(frepo_service)))
    assert {"none": 1, "forgotten": 1} == run(now=utc_now() + job._WHOLE * 2)
    assert 1 == len(lists())


def test_it_leaves_alone_what_is_listed_while_somebody_waits(frepo_service, push, run, lists):
    push(SQL)

    assert {} == run()  # all versions
    push(SQL.replace(b"VALUES(2)", b"VALUES(3)"))
    assert {} == run()  # new ones
    assert [] == lists()


def test_a_run_whose_time_is_over_leaves_the_rest_to_the_next_one(push, run, lists, monkeypatch):
    push(*(_large(number) for number in range(3)))
    monkeypatch.setattr(job, "_TURN", 5.0)
    monkeypatch.setattr(job, "_REST", 1e9)  # after one content, the rest of the turn is a pause

    assert {"listed": 1} == run()
    assert 1 == len(lists())
    monkeypatch.undo()
    assert {"listed": 3} == run()
    assert 3 == len(lists())


def test_it_rests_nine_times_as_long_as_it_works(push, run):
    push(_large(3))
    run()  # imports what the first run needs
    push(*(_large(number) for number in range(3)))
    begin, used = time.perf_counter(), time.thread_time()

    assert {"listed": 3} == run()
    assert time.perf_counter() - begin > 5 * (time.thread_time() - used)


def _large(number):
    return LARGE.replace(b"VALUES(1)", b"VALUES(%d)" % number)
