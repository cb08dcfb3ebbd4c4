"""SIGTERM ends the wait for requests at once."""

import os
import signal
import threading

import pytest
from waitress import wasyncore

from frepo_server.channel import make_server
from frepo_server.graceful_shutdown import StopSignal, run
from frepo_server.idle_timeout import Timeouts


@pytest.fixture(autouse=True)
def handler_of_pytest():
    before = signal.getsignal(signal.SIGTERM)
    yield
    signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("listen", ["127.0.0.1:0", "127.0.0.1:0 127.0.0.1:0"])
def test_a_stop_does_not_wait_for_the_next_poll(monkeypatch, listen):
    polls = threading.Event()
    loop = wasyncore.loop

    def wait_long(_, **more):
        polls.set()
        loop(60, **more)

    monkeypatch.setattr(wasyncore, "loop", wait_long)
    server = make_server(lambda environ, start_response: [], None, listen=listen)
    stop = StopSignal()
    serving = threading.Thread(target=run, args=[server, stop, 5, Timeouts()])
    serving.start()
    polls.wait(20)

    os.kill(os.getpid(), signal.SIGTERM)

    serving.join(20)
    assert not serving.is_alive()
