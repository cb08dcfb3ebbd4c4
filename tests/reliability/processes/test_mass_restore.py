"""In an emergency everybody restores at once: old versions by plain curl, without a retry."""

import hashlib
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.encodings.nights import nights
from support.servers.service import IS_STOCK, Service
from support.wire import Client, Wire, head, peak_memory

ROWS = 170_000  # 17 MB: a whole content
VERSIONS, RESTORES, SLOW = 4, 50, 6
MOST_MEMORY = 350  # MiB

pytestmark = pytest.mark.skipif(IS_STOCK, reason="stock waitress sends no file that is not complete yet")


@pytest.fixture(scope="module")
def dumps():
    return list(nights(VERSIONS, ROWS))


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service without its worker, whose older versions become differences by a command."""
    folder = tmp_path_factory.mktemp("restores")
    settings = {
        "COMPACT": "true",
        "COMPACT_AFTER": "0s",
        "COMPACT_RATE": "0",
        "WORKER_IN_PROCESS": "false",
        "HEALTH_CHECK_CODE": "look",
    }
    service = Service(folder, settings)
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def collection(service, dumps):
    client = Client(service)
    made = client.request(
        "POST", "/api/v1/collections", b'{"name": "dump.sql"}', {"Content-Type": "application/json"}
    ).json["id"]
    for dump in dumps:
        assert 201 == client.request("POST", f"/api/v1/collections/{made}/versions", dump).status
    service.frepo("compact")
    return made


def path_of(collection, number):
    return f"/api/v1/collections/{collection}/versions/v{number}/content"


def restore(service, collection, number):
    """Return the SHA-256 of what curl has loaded; it fails if the answer was not whole."""
    url, token = service.url + path_of(collection, number), f"Authorization: Bearer {service.admin}"
    with subprocess.Popen(["curl", "-sS", "--fail", "-H", token, url], stdout=subprocess.PIPE) as curl:
        found = hashlib.file_digest(curl.stdout, "sha256").hexdigest()
    return found if curl.returncode == 0 else f"curl ended with {curl.returncode}"


@pytest.mark.costly
def test_fifty_restores_at_once_are_fifty_whole_dumps(service, collection, dumps):
    ended, health = threading.Event(), []

    def look():
        while not ended.wait(0.2):
            health.append(Client(service).request("GET", "/health?code=look", token=False).status)

    watch = threading.Thread(target=look)
    watch.start()
    numbers = [number % (VERSIONS - 1) + 1 for number in range(RESTORES)]
    with ThreadPoolExecutor(RESTORES) as clients:
        found = list(clients.map(lambda number: restore(service, collection, number), numbers))
    ended.set()
    watch.join()

    digests = [hashlib.sha256(dump).hexdigest() for dump in dumps]
    assert [digests[number - 1] for number in numbers] == found
    assert {200} == set(health)
    assert peak_memory(service) < MOST_MEMORY


@pytest.mark.costly
def test_slow_restores_hold_no_decoder(service, collection, dumps):
    wires = [Wire(service) for _ in range(SLOW)]
    try:
        for wire in wires:
            wire.send(head("GET", path_of(collection, 1), f"Authorization: Bearer {service.admin}"))
            assert b"HTTP/1.1 200" in wire.socket.recv(12)

        assert hashlib.sha256(dumps[0]).hexdigest() == restore(service, collection, 1)
    finally:
        for wire in wires:
            wire.close()
