"""A stop completes running requests, so that restarting one process breaks no request."""

import contextlib
import functools
import json
import signal
import socket
import time

import pytest

from support.servers.fork_server import ScriptService

BODY = b"0123456789" * 1000


@pytest.fixture(scope="module")
def make_service(fork_server):
    """Start services with the script, because the tests check how a process exits."""
    return functools.partial(ScriptService, fork_server=fork_server)


@contextlib.contextmanager
def half_an_upload(service):
    """Send half of an upload, and wait until the service has begun to read it."""
    host, port = service.address.split(":")
    head = f"POST /repository/file/upload?fileName=a&_token={service.admin} HTTP/1.1\r\nHost: a\r\n"
    head += f"Content-Length: {len(BODY)}\r\nExpect: 100-continue\r\n\r\n"
    with socket.create_connection((host, int(port)), 60) as connection:
        connection.sendall(head.encode())
        assert b"100 Continue" in connection.recv(1000)
        connection.sendall(BODY[:5000])
        time.sleep(0.2)
        yield connection


def stop(service):
    """Send the service SIGTERM, and wait until it accepts no new connection."""
    service.process.send_signal(signal.SIGTERM)
    host, port = service.address.split(":")
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            socket.create_connection((host, int(port)), 60).close()
        except ConnectionRefusedError:
            return
        except ConnectionResetError:
            pass  # the service has closed its door with this client in it
        time.sleep(0.05)
    raise AssertionError("the service still accepts connections")


@pytest.mark.own_server  # stock waitress aborts it
def test_a_stop_waits_for_a_running_upload(service):
    with half_an_upload(service) as upload:
        stop(service)
        upload.sendall(BODY[5000:])
        answer = upload.makefile("rb").read()

    status = service.process.wait(60)

    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["status"] == "OK"
    assert status == 0


@pytest.mark.costly
def test_idle_connections_do_not_delay_a_stop(service):
    host, port = service.address.split(":")
    with socket.create_connection((host, int(port)), 60) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        idle.recv(10000)
        service.process.send_signal(signal.SIGTERM)

        status = service.process.wait(60)

    assert status == 0


@pytest.mark.costly
@pytest.mark.own_server  # stock waitress ends without closing the database
def test_a_stop_leaves_sqlite_in_one_file(service):
    token = service.admin  # until then the row is only in the write-ahead log
    assert service.process.poll() is None and token

    service.stop()

    assert {path.name for path in service.folder.glob("frepo.db*")} - {"frepo.db-reserve"} == {"frepo.db"}


@pytest.mark.costly
@pytest.mark.parametrize(("environment", "signals"), [({"LONG_EXECUTION_TIME": "1"}, 1), ({}, 2)])
def test_a_stop_does_not_wait_for_ever(start_service, environment, signals):
    service = start_service(**environment)
    with half_an_upload(service) as upload:
        for _ in range(signals):
            service.process.send_signal(signal.SIGTERM)
            time.sleep(0.3)

        status = service.process.wait(60)

        assert upload.recv(1000) == b""
    assert status == 0
