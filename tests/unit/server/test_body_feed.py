"""What waits of bodies that the application takes while they arrive."""

import threading
from io import BytesIO

import pytest

from frepo_server.bodies import body_feed
from frepo_server.bodies.body_feed import BodyFeed
from frepo_server.bodies.body_spool import BodySpool
from support.servers.in_process import MemoryBuffer


class Sink:
    def __init__(self):
        self.calls = []

    def write(self, piece):
        self.calls.append(piece)
        return True

    def fail(self, error):
        self.calls.append(error)

    def close(self):
        self.calls.append("closed")


def new_feed(sink=None, start=b""):
    return BodyFeed(sink or Sink(), BytesIO(start), len(start), lambda: None)


@pytest.fixture
def limits(monkeypatch):
    monkeypatch.setattr(body_feed, "QUEUED_BYTES", 100)
    monkeypatch.setattr(body_feed, "QUEUED_OF_ALL", 150)


def test_a_body_is_full_until_its_pieces_were_taken(limits):
    feed = new_feed(start=b"x" * 60)
    assert not feed.is_full
    feed.append(b"x" * 40)
    assert feed.is_full

    feed.hand_over()

    assert not feed.is_full
    assert 100 == feed.length


def test_many_bodies_wait_earlier_but_each_may_have_one_piece(limits):
    feeds = [new_feed() for _ in range(3)]
    for feed in feeds[:2]:
        feed.append(b"x" * 80)

    assert [True, True, False] == [feed.is_full for feed in feeds]
    for feed in feeds:
        feed.end()
    assert [False] * 3 == [feed.is_full for feed in feeds]


def test_one_worker_hands_over_what_waits():
    feed = new_feed()
    assert not feed.needs_worker()
    feed.append(b"a")

    assert [True, False] == [feed.needs_worker(), feed.needs_worker()]
    feed.hand_over()
    feed.append(b"b")
    assert feed.release_worker()
    feed.hand_over()
    assert not feed.release_worker()
    assert not feed.needs_worker()


def test_what_had_arrived_before_comes_first():
    sink = Sink()
    spool = BodySpool(MemoryBuffer(), None)
    spool.append(b"before ")
    feed = spool.feed_to(sink)
    spool.append(b"after")
    spool.close()  # the connection broke

    feed.end()

    assert [b"before ", b"after", "closed"] == sink.calls
    assert (12, b"") == (len(spool), spool.getfile().read())


def test_a_body_that_could_not_be_written_fails():
    class FullDisk(MemoryBuffer):
        def append(self, data):
            raise OSError(28, "No space left on device")

    sink = Sink()
    spool = BodySpool(FullDisk(), None)
    spool.append(b"lost")
    feed = spool.feed_to(sink)
    spool.append(b"after")

    assert not feed.hand_over()
    assert [OSError] == [type(call) for call in sink.calls]


def test_the_end_of_the_process_does_not_wait_for_a_sink_that_hangs():
    writes, go_on = threading.Event(), threading.Event()
    sink = Sink()
    sink.write = lambda piece: (writes.set(), go_on.wait(20))[1]
    feed = new_feed(sink)
    feed.append(b"a")
    worker = threading.Thread(target=feed.hand_over)
    worker.start()
    assert writes.wait(20)

    feed.end(0.01)

    assert [] == sink.calls
    go_on.set()
    worker.join()
