"""Memory does not grow with the body. FREPO_TEST_BIG=1 makes the bodies 4 GiB large instead of 128 MiB."""

import functools
import hashlib
import http.client
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from frepo_core.testing.sources import CHUNK, pattern
from support.scale import IS_BIG
from support.servers.fork_server import ScriptService
from support.wire import Client, Wire, head, peak_memory, reset_peak_memory, temporary_files

MIB = 1 << 20
SIZE = (4096 if IS_BIG else 128) * MIB
AT_MOST = 150  # MiB for a process that has handled a small body
MORE_AT_MOST = 24  # MiB that large bodies may add to that


@pytest.fixture(scope="module")
def make_service(fork_server):
    """Start services by the script, because a forked process has more in its memory."""
    return functools.partial(ScriptService, fork_server=fork_server)


def resident_memory(service):
    """Return the memory of the process in MiB."""
    lines = Path(f"/proc/{service.pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def used_memory(client):
    """Return the memory after a small upload, in MiB; `peak_memory` begins there.

    Python and the imported packages take most of it, which no body changes.
    """
    client.upload(bytes(700_000))
    return reset_peak_memory(client.service)


def blocks(size):
    for start in range(0, size, CHUNK):
        yield pattern(start, min(CHUNK, size - start))


def send(client, path, body, headers):
    """Send a body that is generated while it is sent; return the answer's JSON."""
    return client.request("POST", path, body, headers).json


def fetch(client, name):
    """Read a file without keeping it; return its size and digest."""
    connection = http.client.HTTPConnection(client.service.address, timeout=120)
    connection.request("GET", f"/repository/file/{name}", headers={"X-Auth-Token": client.service.admin})
    answer, sha256, size = connection.getresponse(), hashlib.sha256(), 0
    while block := answer.read(CHUNK):
        sha256.update(block)
        size += len(block)
    connection.close()
    return size, sha256.hexdigest()


@pytest.mark.costly
def test_a_service_takes_little_memory_before_large_bodies(start_service):
    service = start_service()
    Client(service).upload(bytes(700_000))

    assert peak_memory(service) < AT_MOST


@pytest.mark.costly
@pytest.mark.slow
def test_a_large_chunked_version_and_its_download_take_little_memory(start_service):
    """The upload is chunked with an unknown length, as from `dump | curl -T -`."""
    service = start_service(BACKUP_ONE_VERSION_MAX_SIZE="8GiB", BACKUP_COLLECTION_MAX_SIZE="8GiB")
    client = Client(service)
    before = used_memory(client)
    pushed = send(client, f"/repository/collection/{client.collection()}/backup", blocks(SIZE), {})
    version = pushed["version"]
    size, digest = fetch(client, version["file"]["filename"])
    grown = peak_memory(service) - before
    print(f"\n{SIZE // MIB} MiB chunked in and out: {grown} MiB more")

    assert (SIZE, SIZE, version["sha256"]) == (size, version["size"], digest)
    assert grown < MORE_AT_MOST
    assert [] == temporary_files(service)


@pytest.mark.costly
def test_a_form_and_base64_take_little_memory(start_service):
    service = start_service()
    client = Client(service)
    before = used_memory(client)
    size = 48 * MIB
    start, end = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n', b"\r\n--XX--\r\n"
    length = str(len(start) + size + len(end))

    def form():
        yield start
        yield from blocks(size)
        yield end

    sent = send(
        client,
        "/repository/file/upload",
        form(),
        {"Content-Type": "multipart/form-data; boundary=XX", "Content-Length": length},
    )
    text = b"QUFB" * (CHUNK // 4)
    decoded = send(client, "/repository/file/upload?fileName=b&encoding=base64", (text for _ in range(48)), {})

    assert (size, size // 4 * 3) == (sent["size"], decoded["size"])
    assert peak_memory(service) - before < MORE_AT_MOST


@pytest.mark.costly
@pytest.mark.own_server  # stock waitress keeps some MB for each
def test_many_slow_readers_take_little_memory(start_service):
    service = start_service()
    client = Client(service)
    before = used_memory(client)
    name = send(client, "/repository/file/upload?fileName=a", blocks(32 * MIB), {})["filename"]
    connections = [http.client.HTTPConnection(service.address, timeout=30) for _ in range(20)]
    for connection in connections:
        connection.request("GET", f"/repository/file/{name}")
    answers = [connection.getresponse() for connection in connections]
    time.sleep(0.5)
    for answer, connection in zip(answers, connections, strict=True):
        answer.read(CHUNK)
        answer.close()
        connection.close()

    assert peak_memory(service) - before < MORE_AT_MOST


def test_several_concurrent_large_uploads_take_little_memory(start_service):
    service = start_service()
    client = Client(service)
    before = used_memory(client)
    results = []

    def upload(number):
        path = f"/repository/file/upload?fileName={number}"
        results.append(send(client, path, blocks(24 * MIB + number), {})["http_code"])

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [200] * 4 == results
    assert peak_memory(service) - before < MORE_AT_MOST


@pytest.mark.costly
@pytest.mark.own_server
def test_stalled_small_bodies_take_little_memory_together(start_service):
    """Each is small enough to be kept in memory. The limit of connections is that of development.ini."""
    service = start_service()
    client = Client(service)
    part, begun = (
        bytes(500_000),
        head("POST", "/repository/file/upload?fileName=a", client.auth, "Content-Length: 500001"),
    )
    client.upload(part)
    before = resident_memory(service)
    with ExitStack() as stack:
        wires = [stack.enter_context(Wire(service)).send(begun, part) for _ in range(80)]
        answers = [client.upload(part).status for _ in range(3)]  # after these, everything sent before has been read
        grown = resident_memory(service) - before
        answers += [wires[number].send(b"x").reply().status for number in (0, -1)]
    print(f"{grown:.1f} MiB more")

    assert {200, 202} >= set(answers)
    assert grown < 26  # the bodies have 38
