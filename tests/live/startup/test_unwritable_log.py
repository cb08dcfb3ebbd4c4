"""A log that cannot be written, or that nothing reads, neither ends the service nor holds it up."""

import os
import subprocess
from pathlib import Path

import pytest

from support.servers.fork_server import ForkedService, ScriptService
from support.servers.service import BIN, START_SECONDS
from support.wire import Client, eventually

REQUESTS = 600  # so many refusals fill a pipe


class OwnOutput(ForkedService):
    """A service whose standard output and error are the file `output`."""

    output: Path

    def _order(self, log):
        return super()._order(self.output)


class WithoutOutput(ScriptService):
    """A service whose standard output and error are closed."""

    def start(self):
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", BIN / "pserve", self.ini, f"http_listen={self.address}"],
            env=self.environment,
            cwd=self.folder,
        )
        assert eventually(True, self.answers, START_SECONDS)


@pytest.fixture
def start(tmp_path, fork_server):
    started = []

    def start(kind, output=None):
        service = kind(tmp_path, fork_server)
        service.log.touch()
        service.output = output
        started.append(service)
        service.start()
        return service

    yield start
    for service in started:
        service.stop()


@pytest.fixture
def pipe(tmp_path):
    """A pipe, and a descriptor that reads it."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path, os.open(path, os.O_RDONLY | os.O_NONBLOCK)


def refused(service, count):
    """Send requests with a wrong token, each of which is a line of the log; return the statuses."""
    client = Client(service, "11111111-1111-4111-8111-111111111111")
    return {client.request("GET", "/api/v1/files").status for _ in range(count)}


def test_a_full_disk(start):
    assert {401} == refused(start(OwnOutput, Path("/dev/full")), 20)


def test_a_reader_that_has_ended(start, pipe):
    path, reader = pipe
    service = start(OwnOutput, path)
    os.close(reader)

    assert {401} == refused(service, 20)


def test_closed_descriptors(start):
    service = start(WithoutOutput)

    assert {401} == refused(service, 20)
    targets = [os.readlink(f"/proc/{service.pid}/fd/{number}") for number in (1, 2)]
    assert not [each for each in targets if each.startswith(str(service.folder)) or "socket" in each], targets


def test_a_reader_that_stops_and_goes_on(start, pipe):
    path, reader = pipe
    service = start(OwnOutput, path)
    assert {401} == refused(service, REQUESTS)
    first = os.read(reader, 1 << 20)
    assert {401} == refused(service, 1)

    assert b"refused" in first
    assert eventually(True, lambda: b"lines of the log are lost here" in os.read(reader, 1 << 20))
    os.close(reader)
