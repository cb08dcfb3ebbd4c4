"""A client that speaks TLS to the plain port: closed at once, with one line in the log however often it tries."""

import logging
import socket
import ssl

import pytest

from support.servers.in_process import running_server
from support.wire import Wire, head


def application(environ, start_response):
    start_response("200 OK", [("Content-Length", "2")])
    return [b"ok"]


def handshake(address):
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        ssl.create_default_context().wrap_socket(connection, server_hostname="localhost")


def test_a_client_that_speaks_tls_is_told_so_in_the_log(caplog):
    with running_server(application) as server, caplog.at_level(logging.WARNING, "frepo_server"):
        for _ in range(3):
            with pytest.raises((ssl.SSLError, ConnectionError)):
                handshake(server.address)
        with Wire(server) as wire:
            assert 200 == wire.send(head("GET", "/")).reply("GET").status

    [line] = [record.getMessage() for record in caplog.records if "TLS" in record.getMessage()]
    assert "this port takes plain HTTP: 127.0.0.1" in line


@pytest.mark.parametrize("sent", [b"\x16", b"\x16\x03\x01\x02\x00\x01"])
def test_the_first_byte_decides(sent):
    with running_server(application) as server, Wire(server) as wire:
        assert b"" == wire.send(sent).rest()
