"""The reading thread looks at connections without a lock, while workers decide about their requests."""

from types import SimpleNamespace

import pytest

from frepo_server.early_response import EarlyResponseChannel
from frepo_server.read_size import read_size


class Changing:
    """An attribute that a worker sets to None after it was read so many times."""

    def __init__(self, value, reads):
        self.value, self.reads = value, reads

    def __get__(self, instance, owner):
        self.reads -= 1
        return self.value if self.reads >= 0 else None


def make_channel(asked, **changing):
    """Return a channel that a decision is pending about."""
    channel = object.__new__(type("RacingChannel", (EarlyResponseChannel,), changing))
    channel.requests, channel.hooks, channel.is_decision_pending = [], None, True
    channel._asked_request = asked
    channel.connected = channel.will_close = False
    channel.adj, channel._map = SimpleNamespace(recv_bytes=1), {1: channel}
    return channel


@pytest.fixture
def request_():
    return SimpleNamespace(body_rcv=bytearray(20), feed=None)


def test_a_request_that_a_worker_answers_meanwhile_ends_no_look(request_):
    for reads in range(4):
        for look in [EarlyResponseChannel._is_full, read_size]:
            look(make_channel(request_, request=Changing(request_, reads), _max_body=10))


@pytest.mark.parametrize("reads", range(4))
def test_a_limit_that_a_worker_lifts_meanwhile_ends_no_look(request_, reads):
    make_channel(request_, request=request_, _max_body=Changing(10, reads))._is_full()


@pytest.mark.parametrize("reads", range(4))
def test_a_body_that_a_worker_takes_meanwhile_ends_no_look(request_, reads):
    changing = type("Request", (), {"body_rcv": Changing(bytearray(20), reads), "feed": None})()
    make_channel(changing, request=changing, _max_body=10)._is_full()


@pytest.mark.parametrize("reads", range(4))
def test_a_feed_of_a_request_that_a_worker_answers_meanwhile_ends_no_look(request_, reads):
    request_.feed = SimpleNamespace(has_worker=True)
    channel = make_channel(request_, request=Changing(request_, reads))
    channel.is_decision_pending = False

    assert channel.waits_for_application is bool(reads)
