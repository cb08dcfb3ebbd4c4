"""Slow and idle clients keep their connections only for a limited time, and never keep others out."""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from support.servers.service import ROOT
from support.wire import Client, Wire, eventually, head

pytestmark = pytest.mark.own_server
LIMIT = 20
SETTINGS = {
    "connection_limit": LIMIT,
    "channel_timeout": 4,
    "upload_idle": 4,
    "head_timeout": 2,
    "body_min_rate": 1000,
    "cleanup_interval": 1,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    yield from started(tmp_path_factory.mktemp("slow-clients"), make_service)


def started(folder, make_service, **changed):
    settings = SETTINGS | changed
    lines = (ROOT / "development.ini").read_text().splitlines()
    kept = [line for line in lines if line.partition(" =")[0] not in settings]
    kept.insert(kept.index("[server:main]") + 1, "\n".join(f"{name} = {value}" for name, value in settings.items()))
    ini = folder / "service.ini"
    ini.write_text("\n".join(kept))
    service = make_service(folder, ini=ini)
    service.start()
    yield service
    service.stop()


@pytest.fixture
def client(service):
    return Client(service)


def drip(wire, data, pause=0.2, seconds=60):
    """Send one byte at a time; return the seconds until the service closed the connection."""
    start = time.monotonic()
    wire.socket.settimeout(pause)
    for byte in data:
        if time.monotonic() - start > seconds:
            break
        try:
            wire.socket.sendall(bytes([byte]))
            if wire.socket.recv(1000) == b"":
                break
        except TimeoutError:
            continue
        except OSError:
            break
    return time.monotonic() - start


@pytest.mark.parametrize(
    "start", [b"", b"GET / HTTP/1.1\r\nX: ", b"GET / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nX: "], ids=range(3)
)
def test_a_head_has_a_deadline(service, start):
    with Wire(service) as wire:
        if start.count(b"GET") == 2:
            wire.send(start).reply("GET")
        else:
            wire.send(start)
        took = drip(wire, b"a" * 1000)

    assert 1.5 < took < 60


def test_empty_lines_do_not_extend_the_deadline(service):
    with Wire(service) as wire:
        took = drip(wire, b"\r\n" * 1000)

    assert 1.5 < took < 60


@pytest.mark.parametrize("more", [("Content-Length: 100000",), ("Transfer-Encoding: chunked",)], ids=["raw", "chunked"])
def test_a_body_that_arrives_too_slowly_is_aborted(service, client, post, more):
    with Wire(service) as wire:
        wire.send(post("slow.bin", *more), b"ff\r\n" if "chunked" in more[0] else b"")
        took = drip(wire, b"a" * 1000)

    assert 3 < took < 60


def test_a_body_that_arrives_slowly_but_faster_than_the_limit_is_stored(service, client, post):
    """It takes longer than every timeout."""
    content = os.urandom(14_000)
    with Wire(service) as wire:
        wire.send(post("steady.bin", f"Content-Length: {len(content)}"))
        for start in range(0, len(content), 1000):
            wire.send(content[start : start + 1000])
            time.sleep(0.5)
        reply = wire.reply()

    assert (200, content) == (reply.status, client.content(reply))


def test_the_rest_of_a_refused_body_has_a_deadline(service):
    sent = head("POST", "/repository/file/upload?fileName=a.txt", "X-Auth-Token: x", "Content-Length: 100000000")
    with Wire(service) as wire:
        assert 403 == wire.send(sent).reply().status
        start = time.monotonic()
        wire.socket.settimeout(0.2)
        while time.monotonic() - start < 60:
            try:
                wire.socket.sendall(b"a")
            except OSError:
                break
            time.sleep(0.2)
        took = time.monotonic() - start

    assert 1 < took < 60


class TestNearTheLimit:
    """Clients may be silent for a minute here, unless their connections are needed."""

    @pytest.fixture(scope="class")
    @classmethod
    def service(cls, tmp_path_factory, make_service):
        yield from started(tmp_path_factory.mktemp("near-the-limit"), make_service, channel_timeout=60, upload_idle=60)

    @pytest.mark.costly
    def test_idle_connections_are_closed_first_when_the_limit_is_near(self, service, client, post):
        content = os.urandom(5000)
        with ExitStack() as stack:
            upload = stack.enter_context(Wire(service))
            upload.send(post("a.bin", f"Content-Length: {len(content)}"), content[:1000])
            for _ in range(LIMIT + 5):
                stack.enter_context(Wire(service)).send(head("GET", "/"))
            start = time.monotonic()
            answers = service.answers()
            took = time.monotonic() - start
            reply = upload.send(content[1000:]).reply()  # it was silent longer than they were

        assert (True, True) == (answers, took < 50)
        assert content == client.content(reply)

    def test_a_client_with_many_silent_bodies_does_not_block_other_clients(self, service, client, post):
        content = os.urandom(5000)
        made = client.request("POST", "/auth/token/generate", json.dumps({"roles": ["upload.images"]})).json["tokenId"]
        silent = head(
            "POST", "/repository/file/upload?fileName=a.png", f"X-Auth-Token: {made}", "Content-Length: 2000000"
        )
        with ExitStack() as stack:
            upload = stack.enter_context(Wire(service))
            upload.send(post("b.bin", f"Content-Length: {len(content)}"), content[:1000])
            for _ in range(LIMIT + 5):
                stack.enter_context(Wire(service)).send(silent)
            start = time.monotonic()
            answers = eventually(True, service.answers)
            took = time.monotonic() - start
            reply = upload.send(content[1000:]).reply()  # it was silent longer than they were

        assert (True, True) == (answers, took < 50)
        assert content == client.content(reply)


def test_slow_connections_do_not_block_other_clients(service):
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(service)).send(b"GET / HTTP/1.1\r\nX: ") for _ in range(3 * LIMIT)]
        start = time.monotonic()
        answer = eventually(True, service.answers, 60)
        took = time.monotonic() - start

    assert (True, True) == (answer, took < 60)
    assert len(wires) == 3 * LIMIT


@pytest.mark.costly
@pytest.mark.parametrize(
    ("environment", "line", "said"),
    [
        ({"HTTP_LISTEN": "127.0.0.1:65536"}, "", "port 65536 does not exist, the highest port is 65535"),
        ({}, "head_timeout = soon", "head_timeout = soon is not a positive number"),
    ],
)
def test_an_invalid_setting_stops_the_start(tmp_path, service, environment, line, said):
    ini = tmp_path / "service.ini"
    text = (ROOT / "development.ini").read_text()
    ini.write_text(text.replace("[server:main]", f"[server:main]\n{line}"))
    command = [str(Path(sys.executable).parent / "pserve"), str(ini), f"http_listen={service.address}"]
    environment = service.environment | environment
    done = subprocess.run(command, env=environment, check=False, capture_output=True, text=True, timeout=60)

    assert done.returncode == 1
    assert said in done.stderr


def test_an_upload_of_a_version_that_is_silent_is_an_event(service, client):
    collection = client.collection()
    events = f"/api/v1/events?kind=upload.aborted&collection={collection}"
    path = f"/api/v1/collections/{collection}/versions"
    with Wire(service) as wire:
        wire.send(head("PUT", path, client.auth, "Content-Length: 1000"), b"hello")
        assert b"" == wire.rest()

    expected = [{"received": 5, "size": 1000, "reason": "timeout", "count": 1}]
    assert expected == eventually(
        expected, lambda: [event["data"] for event in client.request("GET", events).json["items"]]
    )
