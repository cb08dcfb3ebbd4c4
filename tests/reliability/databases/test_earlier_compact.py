"""Contents that earlier code has encoded in format 1: today's code reads, encodes and expands them."""

import sqlite3
from hashlib import sha256

import pytest

from support.encodings.nights import nights
from support.reliability.earlier_commits import EarlierService, unpack
from support.servers.fork_server import ForkedService
from support.wire import Client

# The last commit before contents were chosen by likeness: what it encodes, chains of four, has format 1.
LAST_OF_FORMAT_1 = "318c978c827db6995b20704f16fc4290b6acc37d"
STATE = ("APP_SECRETS_FILE", "DATABASE_URL", "FS_LOCAL_DIRECTORY")
NIGHTS, LATER = 20, 4


@pytest.fixture
def settings(tmp_path):
    return {
        "WORKER_IN_PROCESS": "false",
        "STORAGES": "second",
        "STORAGE_SECOND_ADAPTER": "local",
        "STORAGE_SECOND_DIRECTORY": str(tmp_path / "second"),
        "MIRROR": "second",
        "MIRROR_RATE": "0",
        "COMPACT": "true",
        "COMPACT_AFTER": "0s",
        "COMPACT_RATE": "0",
    }


@pytest.fixture
def today(tmp_path, fork_server, settings):
    (tmp_path / "today").mkdir()
    form = {"COMPACT_FORMAT": "2", "COMPACT_NEWEST": "zstd"}
    service = ForkedService(tmp_path / "today", fork_server, settings | form)
    yield service
    service.stop()


@pytest.fixture
def earlier(tmp_path, today, settings):
    if not unpack(LAST_OF_FORMAT_1, tmp_path / "code"):
        pytest.skip("the earlier code is not in this clone: its history is cut off")
    (tmp_path / "earlier").mkdir()
    state = settings | {name: today.environment[name] for name in STATE}
    service = EarlierService(tmp_path / "earlier", tmp_path / "code", state)
    yield service
    service.stop()


def read(service, token, collection):
    """Return the digests of all versions by their numbers, of the bytes that are downloaded."""
    client = Client(service, token)
    path = f"/api/v1/collections/{collection}/versions"
    numbers = [one["number"] for one in client.request("GET", f"{path}?limit=100").json["items"]]
    return {number: sha256(client.request("GET", f"{path}/v{number}/content").body).hexdigest() for number in numbers}


def encodings(service):
    """Return how many objects there are of each storage and encoding."""
    path = service.environment["DATABASE_URL"].removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        query = "SELECT storage, encoding, count(*) FROM object WHERE slot = 1 AND state = 'present' GROUP BY 1, 2"
        return {(storage, encoding): count for storage, encoding, count in connection.execute(query)}


def space(service, token, collection):
    return Client(service, token).request("GET", f"/api/v1/collections/{collection}/space").json


@pytest.mark.costly
@pytest.mark.slow
def test_what_earlier_code_has_encoded_is_read_encoded_and_expanded(earlier, today, tmp_path):
    contents = list(nights(NIGHTS + LATER, 1500))
    earlier.start()
    client, token = Client(earlier), earlier.admin
    collection = client.collection(100, filename="dump.sql")
    for content in contents[:NIGHTS]:
        assert client.push(collection, content).status == 200
    earlier.frepo("compact")
    for _ in range(5):  # a difference is copied after its base
        earlier.frepo("jobs:run", "mirror")
    earlier.stop()
    expected = {number: sha256(content).hexdigest() for number, content in enumerate(contents, 1)}

    today.start()
    assert {number: expected[number] for number in range(1, NIGHTS + 1)} == read(today, token, collection)
    before = encodings(today)
    assert 4 == space(today, token, collection)["depth"]
    assert before["local", "delta"] == before["second", "delta"] >= NIGHTS - 3

    for content in contents[NIGHTS:]:
        assert Client(today, token).push(collection, content).status == 200
        today.frepo("compact")
    for job in ("sweep", *["mirror"] * 5, "verify"):
        today.frepo("jobs:run", job)
    assert expected == read(today, token, collection)
    after = encodings(today)
    assert after["local", "delta"] > before["local", "delta"]
    assert {key: count for key, count in after.items() if key[0] == "local"} == {
        ("local", encoding): count for (storage, encoding), count in after.items() if storage == "second"
    }
    (tmp_path / "today/storage").rename(tmp_path / "away")
    assert expected == read(today, token, collection)
    (tmp_path / "away").rename(tmp_path / "today/storage")
    today.stop()

    today.environment["COMPACT"] = "false"
    today.frepo("compact", "--expand")
    today.start()
    assert {("local", "raw"): NIGHTS + LATER} == {
        key: count for key, count in encodings(today).items() if key[0] == "local"
    }
    assert expected == read(today, token, collection)
