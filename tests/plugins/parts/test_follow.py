"""A content is listed when it is checked, from the same reading, and nothing about the list changes the verdict."""

import contextlib
import gzip
import random
import stat
import threading
from pathlib import Path
from queue import Queue

import pytest

from frepo_core.db import utc_now
from frepo_core.plugins import JobContext
from frepo_core.services.content.checks import followers, shared_reading
from frepo_integrity import deep_check
from frepo_parts import listings
from support.wire import eventually

from .test_requests import SQL


@pytest.fixture
def inline_limit():
    return "1KiB"


@pytest.fixture
def frepo_service_settings(tmp_path, inline_limit):
    return {
        "parts.directory": str(tmp_path / "parts"),
        "integrity.inline_limit": inline_limit,
        "jobs.parts": "off",
        "jobs.integrity_deep": "off",
    }


@pytest.fixture
def lists(tmp_path):
    """Return the names of the lists that are kept."""
    return lambda: sorted(path.name for path in (tmp_path / "parts").glob("??/*"))


@pytest.fixture
def opened(frepo_service, monkeypatch):
    """Count how often a stored content is opened, and the bytes that are read of it."""
    read = []
    service = type(frepo_service.context("parts").service)
    open_version = service.open_version

    def counted(self, *arguments, **more):
        content = open_version(self, *arguments, **more)
        inner, one = content.read, [0]
        read.append(one)

        def count(size=-1):
            data = inner(size)
            one[0] += len(data)
            return data

        monkeypatch.setattr(content, "read", count, raising=False)
        return content

    monkeypatch.setattr(service, "open_version", counted)
    return read


@pytest.fixture
def check(frepo_service):
    """Run the job of the checks; return what it counts."""
    own = frepo_service.context("integrity")

    def check():
        return deep_check.run(
            JobContext(
                settings=own.settings,
                service=own.service,
                log=own.log,
                now=utc_now(),
                check_lease=lambda: None,
                progress=lambda text: None,
            )
        )

    return check


def _contents(service, collection):
    return service.request("GET", f"/api/v1/collections/{collection}/versions/latest/contents").json


def _followers():
    return {thread.ident for thread in threading.enumerate() if thread.name == "content-followers"}


def _large(rows=25_000):
    words = random.Random(7)
    row = b"INSERT INTO orders VALUES('%s');\n"
    text = b"".join(row % words.randbytes(40).hex().encode() for _ in range(rows))
    return SQL.replace(b"COMMIT;", text + b"COMMIT;")


@pytest.mark.parametrize("inline_limit", ["64MiB"])
def test_an_upload_is_listed_from_its_own_bytes(frepo_service, lists, opened):
    collection = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(collection, _large()).status
    eventually(1, lambda: len(lists()))

    assert ("listed", 3) == tuple(_contents(frepo_service, collection)[key] for key in ("state", "parts"))
    assert [] == opened


@pytest.mark.parametrize("inline_limit", ["64MiB"])
def test_a_small_upload_is_listed_when_somebody_asks(frepo_service, lists):
    collection, before = frepo_service.make_collection(filename="shop.sql"), _followers()
    assert 200 == frepo_service.push(collection, SQL).status

    assert before == _followers()
    assert ("listed", 3) == tuple(_contents(frepo_service, collection)[key] for key in ("state", "parts"))
    assert 1 == len(lists())


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_a_stored_content_is_read_once_for_its_check_and_its_list(frepo_service, lists, opened, check, pack):
    content = pack(_large())
    collection = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(collection, content).status
    assert [] == lists()

    assert {"good": 1} == check()
    assert 1 == len(lists())
    ((read,),) = opened
    assert len(content) <= read < len(content) + (64 << 10)  # its ends are looked at once more
    assert ("listed", 3) == tuple(_contents(frepo_service, collection)[key] for key in ("state", "parts"))
    assert 1 == len(opened)


def test_a_follower_that_fails_changes_no_verdict(frepo_service, lists, check, monkeypatch):
    def fail(*arguments):
        raise RuntimeError("a list that fails")

    monkeypatch.setattr(listings, "list_content", fail)
    collection = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(collection, _large()).status

    assert {"good": 1} == check()
    assert [] == lists()


@pytest.mark.parametrize("inline_limit", ["64MiB"])
def test_uploads_that_wait_for_a_follower_that_hangs_keep_a_limited_part_of_the_disk(frepo_service, monkeypatch, lists):
    ended, started = threading.Event(), threading.Event()
    real = listings.list_content

    def hang(*arguments):
        started.set()
        ended.wait()
        return real(*arguments)

    monkeypatch.setattr(listings, "list_content", hang)
    content = _large()
    monkeypatch.setattr(followers, "_MOST", 2 * len(content) + 10)
    collection = frepo_service.make_collection(filename="shop.sql")
    before = _unnamed()
    for number in range(6):
        assert 200 == frepo_service.push(collection, content + b"-- %d" % number).status
    assert started.wait(20)

    try:
        assert 2 == _unnamed() - before
    finally:
        ended.set()
    eventually(2, lambda: len(lists()))
    eventually(before, _unnamed)
    assert 200 == frepo_service.push(collection, content + b"-- later").status  # there is room again
    eventually(3, lambda: len(lists()))


def _unnamed():
    """Return how many files without a name this process keeps open."""
    found = 0
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found += stat.S_ISREG(each.stat().st_mode) and each.stat().st_nlink == 0
    return found


def test_a_check_leaves_a_follower_behind_that_is_too_slow(frepo_service, lists, check, monkeypatch):
    monkeypatch.setattr(shared_reading, "WINDOW", 4096)
    monkeypatch.setattr(shared_reading, "HEAD", 0)
    monkeypatch.setattr(shared_reading, "PATIENCE", 0.0)
    monkeypatch.setattr(shared_reading, "SPEED", 1e12)
    collection = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(collection, _large()).status

    assert {"good": 1} == check()
    assert [] == lists()


@pytest.mark.parametrize("inline_limit", ["64MiB"])
def test_one_request_waits_for_a_list_that_is_being_made_and_no_more(frepo_service, lists, monkeypatch):
    ended, started, answers = threading.Event(), threading.Event(), Queue()
    real = listings.list_content

    def hang(*arguments):
        started.set()
        ended.wait()
        return real(*arguments)

    monkeypatch.setattr(listings, "list_content", hang)
    monkeypatch.setattr(listings, "_WAIT", 300.0)
    collection = frepo_service.make_collection(filename="shop.sql")
    assert 200 == frepo_service.push(collection, _large()).status
    assert started.wait(20)

    def ask():
        answers.put(_contents(frepo_service, collection)["state"])

    asking = [threading.Thread(target=ask) for _ in range(3)]
    try:
        for thread in asking:
            thread.start()
        assert ["pending", "pending"] == [answers.get(timeout=20) for _ in range(2)]
    finally:
        ended.set()
    assert "listed" == answers.get(timeout=60)
    assert 1 == len(lists())
