"""Idle, slow and retrying clients: other clients are not blocked, and threads and descriptors are released."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from support.reliability.faulty import ENVIRONMENT, faulty_ini, order
from support.reliability.recording_client import in_threads
from support.servers.fork_server import ForkedService
from support.servers.service import IS_STOCK
from support.wire import Client, Wire, descriptors, eventually, head, open_files, temporary_files

THREADS = 2
# The socket loop, two for each request (one of them calls the storage), those that hash, the watch of the storage, and
# the one that writes when tokens were used.
ALL_THREADS = 1 + 2 * THREADS + os.cpu_count() + 2
SILENCE = 2  # seconds after which the service closes an idle connection
DROPS, SLOWNESS = 50, 2.5  # how many parts a slow request has, and how many seconds it takes
SLOW = 2500  # bytes of a slow body, at twice the rate of `body_min_rate`
LARGE, STEP = os.urandom(12_000_000), 300_000


@contextlib.contextmanager
def started(folder, fork_server, **timeouts):
    """Run a service with two threads for requests, without the threads of the background worker."""
    ini = faulty_ini(folder / "service.ini", threads=THREADS, outbuf_high_watermark=65536, **timeouts)
    environment = {ENVIRONMENT: str(folder / "faults.json"), "WORKER_IN_PROCESS": "false"}
    service = ForkedService(folder, fork_server, environment, ini)
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def service(tmp_path_factory, fork_server):
    """A service with short timeouts."""
    folder = tmp_path_factory.mktemp("bad-clients")
    own = {} if IS_STOCK else {"upload_idle": SILENCE}  # stock waitress knows one timeout
    with started(folder, fork_server, channel_timeout=SILENCE, cleanup_interval=1, **own) as service:
        yield service


@pytest.fixture
def client(service):
    return Client(service)


@pytest.fixture(autouse=True)
def comes_back(service, client):
    """Check after the test: as many threads and descriptors as before, and no temporary file."""
    for _ in range(2):
        client.upload(os.urandom(700_000))  # opens the descriptors that stay open, e.g. of the database
    time.sleep(0.05)
    before = len(descriptors(service))
    yield
    order(service.folder / "faults.json")

    assert before == eventually(before, lambda: len(descriptors(service))), descriptors(service)
    assert threads(service) <= ALL_THREADS
    assert [] == temporary_files(service)


def threads(service):
    return len(list(Path(f"/proc/{service.pid}/task").iterdir()))


@pytest.fixture
def begin(client):
    """Write the head of an upload."""
    return lambda *fields: head("POST", "/repository/file/upload?fileName=a.bin", client.auth, *fields)


def parts_of_requests(begin):
    return {
        "nothing": b"",
        "half a request line": b"POST /repository/fi",
        "half a head": begin("Content-Length: 5")[:-9],
        "a head": begin("Content-Length: 9000"),
        "half a body": begin("Content-Length: 900000") + b"x" * 600_000,
        "a chunk without its end": begin("Transfer-Encoding: chunked") + b"ffff\r\n" + b"x" * 500,
        "no last chunk": begin("Transfer-Encoding: chunked") + b"5\r\nwhole\r\n",
        "a wrong length": begin("Content-Length: 6") + b"whole",
    }


def test_idle_clients_are_disconnected_and_block_no_other(service, client, begin):
    with contextlib.ExitStack() as stack:
        wires = [
            (part, stack.enter_context(Wire(service)).send(sent))
            for part, sent in parts_of_requests(begin).items()
            for _ in range(2 * THREADS)
        ]
        reply = client.upload(os.urandom(700_000))
        ends = {(part, wire.rest()) for part, wire in wires}

    assert 200 == reply.status
    assert ends == {(part, b"") for part in parts_of_requests(begin)}


@pytest.mark.parametrize("where", ["head", "body", "chunks"])
def test_slow_senders_occupy_no_worker_and_are_answered_at_their_end(service, client, begin, where):
    """Like slowloris, but with an end: twice as fast as `body_min_rate`, for longer than the idle timeout."""
    request = {
        "head": begin("Content-Length: 0"),
        "body": begin(f"Content-Length: {SLOW}") + os.urandom(SLOW),
        "chunks": begin("Transfer-Encoding: chunked") + b"1\r\nx\r\n" * (SLOW // 6) + b"0\r\n\r\n",
    }[where]
    start = 0 if where == "head" else request.index(b"\r\n\r\n") + 4
    size = -(-(len(request) - start) // DROPS)
    with contextlib.ExitStack() as stack:
        wires = [stack.enter_context(Wire(service)).send(request[:start]) for _ in range(3 * THREADS)]
        begun = time.monotonic()
        for number in range(DROPS):
            for wire in wires:
                wire.send(request[start + number * size : start + (number + 1) * size])
            if number == DROPS // 2:
                meanwhile = client.upload(os.urandom(700_000)).status
            # By the clock: with fixed pauses, the rate would fall on a busy machine.
            time.sleep(max(begun + (number + 1) * SLOWNESS / DROPS - time.monotonic(), 0))
        statuses = {wire.reply().status for wire in wires}

    assert 200 == meanwhile
    assert statuses <= ({400} if where == "head" else {200, 202})  # an empty body is a refusal


@pytest.mark.own_server  # stock waitress waits longer for readers
@pytest.mark.parametrize("kind", ["sent by the server", "streamed by a worker"])
def test_clients_that_stop_reading_are_disconnected(service, client, kind):
    """With a remote storage, each of them occupies a worker."""
    name = client.upload(LARGE).json["filename"]
    if kind.startswith("streamed"):
        order(service.folder / "faults.json", {"method": "path", "kind": "remote"})
    with contextlib.ExitStack() as stack:
        for _ in range(2 * THREADS):
            stack.enter_context(Wire(service)).send(head("GET", f"/repository/file/{name}"))
        status = client.download(name).status
        open_ones = eventually([], lambda: [path for path in open_files(service) if str(service.storage) in path])

    assert (200, []) == (status, open_ones)


def test_a_slow_reader_that_continues_gets_the_whole_content(service, client):
    """The reader is slow for longer than the idle timeout, but never idle."""
    name = client.upload(LARGE).json["filename"]
    got = 0
    with Wire(service) as wire:
        wire.send(head("GET", f"/repository/file/{name}", "Connection: close"))
        while piece := wire.socket.recv(STEP):
            got += len(piece)
            time.sleep(0.08)

    assert got > len(LARGE)


def push_head(client, collection, key, length):
    path = f"/repository/collection/{collection}/backup"
    return head("POST", path, client.auth, f"Idempotency-Key: {key}", f"Content-Length: {length}")


class TestRetries:
    @pytest.fixture(scope="class")
    @classmethod
    def service(cls, tmp_path_factory, fork_server):
        """A service with the usual timeouts: on a busy machine, the first attempt must not seem to be idle."""
        with started(tmp_path_factory.mktemp("retries"), fork_server) as service:
            yield service

    def test_a_first_attempt_that_ends_after_its_retry_gets_the_retrys_answer(self, service, client):
        collection, content = client.collection(3), os.urandom(800_000)
        with Wire(service) as first:
            first.send(push_head(client, collection, "night-1", len(content)), content[:500_000])
            retry = client.push(collection, content, {"Idempotency-Key": "night-1"})
            late = first.send(content[500_000:]).reply()

        assert (200, retry.json, ["1"]) == (late.status, late.json, list(client.versions(collection)))

    def test_a_retry_while_the_first_attempt_is_being_stored_is_the_only_version(self, service, client):
        """The client has disconnected, but the service has the whole body and continues."""
        collection, content = client.collection(3), os.urandom(800_000)
        order(service.folder / "faults.json", {"method": "store", "kind": "stall", "seconds": 0.7})
        with Wire(service) as first:
            first.send(push_head(client, collection, "night-1", len(content)), content)
            eventually(True, lambda: bool(temporary_files(service)))
            time.sleep(0.2)
        replies = []

        def retry():
            replies.append(client.push(collection, content, {"Idempotency-Key": "night-1"}).status)

        for thread in in_threads(retry, retry):
            thread.join(30)

        assert ([200, 200], ["1"]) == (replies, list(client.versions(collection)))

    def test_a_retry_without_a_key_is_a_separate_version_and_loses_nothing(self, service, client):
        collection, content = client.collection(3), os.urandom(800_000)
        with Wire(service) as first:
            first.send(push_head(client, collection, "a", len(content)), content[:500_000])
            retry = client.push(collection, content)
            late = first.send(content[500_000:]).reply()

        assert (200, 200, ["1", "2"]) == (retry.status, late.status, list(client.versions(collection)))
