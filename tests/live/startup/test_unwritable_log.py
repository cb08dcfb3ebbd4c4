"""A log that cannot be written, or that nothing reads, neither ends the service nor holds it up."""

import os
import subprocess
import time

import pytest

from support.servers.service import BIN, START_SECONDS, Service
from support.wire import Client, eventually

REQUESTS = 600  # so many refusals fill a pipe


class OwnOutput(Service):
    """A service whose standard output and error are `output`; None: they are closed."""

    output: int | None = None

    def start(self):
        closing = "" if self.output is not None else " <&- >&- 2>&-"
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@"{closing}', "sh", BIN / "pserve", self.ini, f"http_listen={self.address}"],
            env=self.environment,
            stdout=self.output,
            stderr=self.output,
            cwd=self.folder,
        )
        self.log.touch()
        deadline = time.monotonic() + START_SECONDS
        while not self.answers():
            assert self.process.poll() is None, "it has ended"
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture
def start(tmp_path):
    started = []

    def start(output):
        service = OwnOutput(tmp_path)
        service.output = output
        started.append(service)
        service.start()
        return service

    yield start
    for service in started:
        service.stop()


def refused(service, count):
    """Send requests with a wrong token, each of which is a line of the log; return the statuses."""
    client = Client(service, "11111111-1111-4111-8111-111111111111")
    return {client.request("GET", "/api/v1/files").status for _ in range(count)}


def test_a_full_disk(start):
    with open("/dev/full", "wb") as full:
        assert {401} == refused(start(full.fileno()), 20)


def test_a_reader_that_has_ended(start):
    reader, writer = os.pipe()
    os.close(reader)

    assert {401} == refused(start(writer), 20)


def test_closed_descriptors(start):
    service = start(None)

    assert {401} == refused(service, 20)
    targets = [os.readlink(f"/proc/{service.pid}/fd/{number}") for number in (1, 2)]
    assert not [each for each in targets if each.startswith(str(service.folder)) or "socket" in each], targets


def test_a_reader_that_stops_and_goes_on(start):
    reader, writer = os.pipe()
    service = start(writer)
    assert {401} == refused(service, REQUESTS)
    first = os.read(reader, 1 << 20)
    assert {401} == refused(service, 1)
    os.set_blocking(reader, False)

    assert b"refused" in first
    assert eventually(True, lambda: b"lines of the log are lost here" in os.read(reader, 1 << 20))
