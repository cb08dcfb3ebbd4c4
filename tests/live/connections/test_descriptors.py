"""When the process may open no more files (`ulimit -n`), connections wait, and the log says so once a minute."""

import contextlib
import resource
import time

import pytest

from support.wire import Client, Wire, eventually, open_files

pytestmark = pytest.mark.own_server  # stock waitress logs a traceback for each attempt

SPARE, MORE = 5, 30


@pytest.fixture
def service(start_service):
    return start_service(WORKER_IN_PROCESS="false")


def test_connections_wait_for_descriptors(service):
    client = Client(service)
    assert 200 == client.request("GET", "/").status
    logged = service.log.stat().st_size
    most = len(open_files(service)) + SPARE
    resource.prlimit(service.pid, resource.RLIMIT_NOFILE, (most, most))
    with contextlib.ExitStack() as opened:
        wires = [opened.enter_context(Wire(service)) for _ in range(MORE)]
        assert eventually(True, lambda: service.log.stat().st_size > logged)
        time.sleep(2)
        lines = service.log.read_text()[logged:].splitlines()
        used = cpu_seconds(service)
        time.sleep(1)
        used = cpu_seconds(service) - used

    assert 1 == len(lines), lines
    assert "no connection can be accepted: Too many open files" in lines[0]
    assert used < 0.5
    assert len(wires) == MORE
    assert eventually(200, lambda: client.request("GET", "/").status)


def cpu_seconds(service):
    """Return the processor's seconds that the process has used, user and system."""
    with open(f"/proc/{service.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100
