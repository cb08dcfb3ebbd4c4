"""A fault in the state of one connection does not end the server, which the others use."""

import pytest

from frepo_server.channel import Channel
from support.servers.in_process import running_server
from support.wire import Wire, head


def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "0")])
    return []


@pytest.fixture
def faulty(monkeypatch):
    """The connections whose state cannot be read."""
    faulty, readable = [], Channel.readable

    def read(self):
        if self.addr in faulty:
            raise TypeError("a fault")
        return readable(self)

    monkeypatch.setattr(Channel, "readable", read)
    return faulty


def test_a_fault_of_one_connection_closes_only_that_one(faulty, caplog):
    with running_server(application) as server, Wire(server) as broken, Wire(server) as other:
        assert 200 == broken.send(head("GET", "/")).reply().status
        faulty.append(broken.socket.getsockname())

        assert 200 == other.send(head("GET", "/")).reply().status
        assert b"" == broken.socket.recv(1)
    assert "a fault of frepo-server" in caplog.text
