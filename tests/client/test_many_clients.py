"""A hundred clients begin at the same moment: nobody has set `spread`."""

import os
import signal
import time
from pathlib import Path

import pytest

from support.reliability.faulty_proxy import FaultyProxy
from support.scale import only_in_long_form
from support.wire import eventually, peak_memory

from .conftest import Machine

pytestmark = only_in_long_form

CLIENTS, SIZE, SECONDS = 100, 20_000_000, 900
# GET for the id of the collection, POST for a session, a PATCH for each of two parts, POST for the commit; and as many
# more questions while the server stores it.
REQUESTS = 10
# Pauses of 1, 2, 4, 8, 16 and 32 s, each shortened to a half at most.
REQUESTS_IN_A_MINUTE = 8
MEMORY = 400  # MiB
CONFIGURATION = f"""
[defaults]
spread = "0"
[job.shop]
collection = "shop.sql"
command = ["head", "-c", "{SIZE}", "/dev/urandom"]
"""


@pytest.fixture
def service(tmp_path, make_service):
    """A service of its own, on two cores."""
    (tmp_path / "service").mkdir()
    service = make_service(tmp_path / "service")
    start_on_two_cores(service)
    yield service
    service.stop()


@pytest.fixture
def machines(tmp_path, program, service):
    found = []
    for number in range(CLIENTS):
        home = tmp_path / f"host-{number}"
        home.joinpath(".config").mkdir(parents=True)
        home.joinpath(".config/frepo-client.toml").write_text(CONFIGURATION)
        found.append(Machine(home, program, service))
    return found


def start_on_two_cores(service):
    service.start()
    cores = sorted(os.sched_getaffinity(0))[:2]
    for thread in Path(f"/proc/{service.pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


def start_all(machines, proxy):
    clients = []
    for machine in machines:
        machine.url = proxy.url
        with (machine.home / "output").open("wb") as output:
            clients.append(machine.start("run", stdout=output, stderr=output))
    return clients


def require_good_ends(machines, clients):
    """Each client ends with 0 and has stored one version."""
    statuses = [client.wait(SECONDS) for client in clients]
    failed = [machine for machine, status in zip(machines, statuses, strict=True) if status]
    assert not failed, (statuses, (failed[0].home / "output").read_text()[-2000:])
    assert [[SIZE]] * CLIENTS == [[version["size"] for version in machine.versions()] for machine in machines]


def retries_of(machines):
    return sum((machine.home / "output").read_text().count("next attempt in") for machine in machines)


def test_all_at_once_end_well_without_a_storm_of_retries(machines, service):
    began = time.monotonic()
    with FaultyProxy(service.address) as proxy:
        clients = start_all(machines, proxy)
        require_good_ends(machines, clients)

    print(f"{proxy.connections / CLIENTS} requests each, {proxy.received} bytes, {retries_of(machines)} retries,")
    print(f"{peak_memory(service)} MiB, {time.monotonic() - began:.0f} s")
    assert 0 == retries_of(machines)
    assert proxy.connections <= CLIENTS * REQUESTS
    assert proxy.received <= CLIENTS * SIZE * 1.01
    assert peak_memory(service) <= MEMORY


def test_all_end_well_after_the_service_was_away_for_a_minute(machines, service):
    began = time.monotonic()
    with FaultyProxy(service.address) as proxy:
        clients = start_all(machines, proxy)
        assert eventually(True, lambda: proxy.received > CLIENTS * SIZE // 2, SECONDS)
        service.stop(signal.SIGTERM)
        before = proxy.connections
        time.sleep(60)
        in_a_minute = proxy.connections - before
        start_on_two_cores(service)
        require_good_ends(machines, clients)

    print(f"{proxy.connections / CLIENTS} requests each, {in_a_minute / CLIENTS} of them in the minute,")
    print(f"{proxy.received} bytes, {retries_of(machines)} retries")
    print(f"{peak_memory(service)} MiB, {time.monotonic() - began:.0f} s")
    assert in_a_minute <= CLIENTS * REQUESTS_IN_A_MINUTE
    assert proxy.connections - in_a_minute <= CLIENTS * 2 * REQUESTS
    assert peak_memory(service) <= MEMORY
