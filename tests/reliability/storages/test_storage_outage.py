"""A storage that is unavailable, slow or wrong: 503 in bounded time, nothing rotated, automatic recovery."""

import http.client
import os

import pytest

from support.reliability.invariants import Ledger, digest_of
from support.reliability.recording_client import RecordingClient, assert_holds_after_sweep
from support.servers.fork_server import ForkedService
from support.servers.lying_s3 import lying_s3

WAIT = 6  # seconds that the service waits for the store; a busy machine makes a working store slow, too
OUT_OF_ORDER = ["gone", "500", "page", "page of an error", "slow"]
LIES = ["truncates", "appends"]


@pytest.fixture(scope="module")
def running_store():
    with lying_s3() as store:
        yield store


@pytest.fixture(scope="module")
def start(tmp_path_factory, fork_server, running_store):
    """Start the service on the store; after the test all invariants are checked."""
    ledger = Ledger()
    environment = {
        "FS_ADAPTER": "awss3v3",
        "FS_CACHE_SIZE": "0",
        "FS_AWSS3V3_BUCKET": "frepo",
        "FS_AWSS3V3_REGION": "eu-central-1",
        "FS_AWSS3V3_ENDPOINT": running_store.endpoint,
        "FS_AWSS3V3_KEY": "key",
        "FS_AWSS3V3_SECRET": "secret of the store",
        "FS_AWSS3V3_ADDRESSING_STYLE": "path",
        "FS_AWSS3V3_READ_TIMEOUT": str(WAIT),
        "FS_AWSS3V3_CONNECT_TIMEOUT": str(WAIT),
        "FS_AWSS3V3_ATTEMPTS": "1",
    }
    ledger.secrets.add("secret of the store")
    service = ForkedService(tmp_path_factory.mktemp("storage-outage"), fork_server, environment)

    def start(**more):
        service.stop()
        service.environment |= more
        service.start()
        return RecordingClient(service, ledger)

    yield start
    service.stop()
    assert_holds_after_sweep(service, ledger)


@pytest.fixture
def store(running_store):
    yield running_store
    running_store.mood = "honest"


@pytest.fixture(scope="module")
def caller(start):
    return start()


@pytest.fixture
def content():
    return os.urandom(600_000)


@pytest.fixture
def collection(caller):
    collection = caller.collection(1)
    assert 200 == caller.push_and_record(collection, b"good")
    return collection


def download(caller, collection):
    link = caller.request("GET", f"/repository/collection/{collection}/backup/latest").headers["Location"]
    return caller.request("GET", link.removeprefix(caller.service.url), token=False)


@pytest.mark.parametrize("mood", [*OUT_OF_ORDER, *LIES])
def test_a_failing_store_is_a_fast_503_and_rotates_nothing(caller, collection, store, content, mood):
    store.mood = mood
    refused = caller.push(collection, content)
    store.mood = "honest"
    kept = download(caller, collection).body
    again = caller.push_and_record(collection, content)

    assert (503, 7016103, "30") == (refused.status, refused.json["error_code"], refused.headers["Retry-After"])
    assert (b"good", 200, content) == (kept, again, download(caller, collection).body)


@pytest.mark.parametrize("mood", OUT_OF_ORDER)
def test_a_download_from_a_failing_store_is_a_503(caller, collection, store, mood):
    store.mood = mood

    assert 503 == download(caller, collection).status


@pytest.mark.parametrize("mood", LIES)
def test_a_wrong_object_of_the_store_is_deleted_again(caller, collection, store, content, mood):
    store.mood = mood
    before = dict(store.objects)
    caller.push(collection, content)

    assert before == store.objects


def test_a_slow_store_blocks_only_requests_that_need_it(caller, collection, store):
    store.mood = "slow"
    statuses = {caller.request("GET", f"/repository/collection/{collection}/backup").status for _ in range(5)}

    assert {200} == statuses


def test_wrong_bytes_of_the_right_length_are_detected_by_a_download(caller, collection, store, content):
    """Only reading back would detect it sooner: see the next test."""
    store.mood = "flips"
    other = caller.collection(1)
    assert 200 == caller.push(other, content).status
    store.mood = "honest"
    link = caller.request("GET", f"/repository/collection/{other}/backup/latest").headers["Location"]
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        caller.request("GET", link.removeprefix(caller.service.url), token=False)
    caller.push_and_record(collection, content)
    key = next(key for key in store.objects if digest_of(content) in key)
    store.objects[key] = content


def test_wrong_bytes_of_the_right_length_are_refused_if_writes_are_read_back(start, store, content):
    caller = start(FS_READ_BACK="true")
    collection = caller.collection(1)
    statuses = [caller.push_and_record(collection, b"good")]
    store.mood = "flips"
    statuses.append(caller.push_and_record(collection, content))
    store.mood = "honest"
    statuses.append(caller.push_and_record(collection, content))

    assert ([200, 503, 200], content) == (statuses, download(caller, collection).body)
