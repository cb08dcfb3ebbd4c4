"""Bodies arrive on the disk of the storage, which is nearly full: nothing in the trash gives way to an announcement."""

import gzip
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from select import select

import pytest

from support.scale import first_of, only_in_long_form
from support.servers.disks import small_disk
from support.wire import Client, Wire, chunked, eventually, field, head

MIB = 1 << 20
FREE, LARGE = 40 * MIB, 44 * MIB  # the large body has room if one version in the trash ends

pytestmark = pytest.mark.own_server  # other servers keep bodies elsewhere


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "disk", "160m") as folder:
        (folder / "temporary").mkdir()
        yield folder


@pytest.fixture
def service(disk, start_service):
    return start_service(
        FS_LOCAL_DIRECTORY=str(disk / "storage"),
        TEMP_DIRECTORY=str(disk / "temporary"),
        TRASH_MIN_FREE="10%",
        WORKER_IN_PROCESS="false",
    )


@pytest.fixture
def client(service):
    return Client(service)


@pytest.fixture
def collection(client, disk):
    """A collection with v3, and v1 and v2 in the trash: 16 MiB each. 40 MiB are free, of which 16 must be."""
    collection = client.collection(1)
    for _ in range(3):
        assert 200 == client.push(collection, os.urandom(16 * MIB)).status
    (disk / "filler").write_bytes(bytes(free(disk) - FREE))
    return collection


@pytest.fixture
def trash(client, collection):
    """Return the numbers of the versions in the trash."""

    def trash():
        items = client.request("GET", f"/api/v1/collections/{collection}/trash").json["items"]
        return sorted(item["number"] for item in items)

    assert [1, 2] == trash()
    return trash


@pytest.fixture
def upload(service, client):
    """Begin an upload on a connection of its own."""
    opened = []

    def upload(path, *fields, method="POST"):
        wire = Wire(service)
        opened.append(wire)
        return wire.send(head(method, path, client.auth, *fields))

    yield upload
    for wire in opened:
        wire.close()


def free(disk):
    found = os.statvfs(disk)
    return found.f_bavail * found.f_frsize


FILES = [("POST", "/repository/file/upload?fileName=a.png"), ("POST", "/api/v1/files?name=a.png")]
VERSIONS = [("POST", "/repository/collection/{}/backup"), ("PUT", "/api/v1/collections/{}/versions")]


def test_what_is_announced_ends_nothing(upload, client, trash, collection):
    for method, path in FILES:
        wire = upload(path, f"Content-Length: {LARGE}", "Expect: 100-continue", method=method)
        assert 507 == wire.reply().status, path
    for method, path in VERSIONS:
        wire = upload(path.format(collection), f"Content-Length: {LARGE}", "Expect: 100-continue", method=method)
        assert wire.socket.recv(100).startswith(b"HTTP/1.1 100"), path
        wire.send(bytes(MIB)).close()
    wire = upload(VERSIONS[0][1].format(collection), f"Content-Length: {200 * MIB}", "Expect: 100-continue")
    assert 507 == wire.reply().status, "it does not fit even without the trash"

    assert [1, 2] == trash()
    assert "full" == client.request("GET", f"/api/v1/collections/{collection}").json["state"]


@only_in_long_form
def test_a_file_keeps_as_much_free_as_the_trash_needs(client, disk, trash, collection):
    for method, path in FILES:
        assert 507 == client.request(method, path, (os.urandom(MIB) for _ in range(60))).status, path
        assert [1, 2] == trash(), "it filled the disk and ended nothing"
        assert eventually(True, lambda: free(disk) >= FREE - MIB)
    content = os.urandom(30 * MIB)

    assert 507 == client.upload(content).status
    assert 507 == client.upload(iter([content])).status
    assert [1, 2] == trash()
    client.request("DELETE", f"/api/v1/collections/{collection}/trash")
    assert 200 == client.upload(os.urandom(68 * MIB)).status, "nothing is kept from it any more"


@pytest.mark.costly
def test_open_bodies_of_files_leave_as_much_free_as_the_trash_needs(upload, disk, trash):
    """Together they would need 48 MiB; 24 are there for them."""
    body = chunked([os.urandom(6 * MIB)], end=b"")
    sockets = [upload(FILES[0][1], "Transfer-Encoding: chunked").send(body).socket for _ in range(8)]

    assert eventually(True, lambda: len(select(sockets, [], [], 0)[0]) >= 4), "answered 507 before their end"
    assert free(disk) >= FREE - 26 * MIB
    assert [1, 2] == trash()


def test_the_trash_gives_way_to_a_version_that_arrives(client, trash, collection):
    assert 200 == client.push(collection, os.urandom(LARGE)).status
    assert [1, 3] == trash()


@only_in_long_form
def test_the_trash_gives_way_to_a_version_of_unknown_size(client, disk, trash, collection):
    (disk / "more").write_bytes(bytes(free(disk) - 20 * MIB))

    assert 200 == client.push(collection, (os.urandom(MIB) for _ in range(30))).status
    assert [1, 3] == trash()


class TestABodyWithoutALength:
    """The trash of others gives way to twice the newest version of its collection, and to the limit for a version."""

    @pytest.fixture
    def own(self, client, disk, collection):
        """Make a collection with a small version; return it, and a client with a token that sees only this one."""

        def own(**limits):
            made = client.collection(2, **limits)
            assert 200 == client.push(made, os.urandom(2 * MIB)).status
            form = {"roles": ["collections.upload_to_allowed_collections"]}
            token = client.request("POST", "/auth/token/generate", json.dumps(form)).json["tokenId"]
            path = f"/repository/collection/{made}/token"
            assert 200 == client.request("POST", path, json.dumps({"token": token})).status
            return made, Client(client.service, token)

        return own

    def test_fills_the_disk_and_ends_nothing(self, own, disk, trash):
        made, sender = own()

        assert 507 == sender.push(made, (os.urandom(MIB) for _ in range(60))).status
        assert [1, 2] == trash()
        assert eventually(True, lambda: free(disk) >= FREE - 4 * MIB)

    @pytest.mark.costly
    @pytest.mark.parametrize("limits", [{}, {"maxOneVersionSize": "3MB"}])
    def test_ends_no_more_than_it_has_a_right_to(self, own, disk, trash, limits):
        made, sender = own(**limits)
        (disk / "more").write_bytes(bytes(free(disk) - 3 * MIB))
        for _ in range(3):
            assert sender.push(made, (os.urandom(MIB) for _ in range(30))).status in {413, 507, 400}
            assert [1] == trash(), "what the first one has freed is there for the next"

    @pytest.mark.costly
    def test_has_a_right_to_what_its_collection_had_before(self, own, disk, trash):
        made, sender = own()
        (disk / "more").write_bytes(bytes(free(disk) - 3 * MIB))

        assert 200 == sender.push(made, iter([os.urandom(3 * MIB)])).status
        assert [1] == trash()

    def test_is_refused_as_the_first_of_its_collection(self, client, disk, trash):
        empty = client.collection(2)
        (disk / "more").write_bytes(bytes(free(disk) - 10 * MIB))

        assert 507 == client.push(empty, iter([os.urandom(3 * MIB)])).status
        assert 200 == client.push(empty, os.urandom(3 * MIB)).status
        assert [1, 2] == trash()

    @pytest.mark.costly
    def test_that_is_compressed_ends_nothing_either(self, own, trash):
        made, sender = own()
        body = gzip.compress(os.urandom(100_000)) + gzip.compress(bytes(60 * MIB))
        path = f"/api/v1/collections/{made}/versions"

        assert 507 == sender.request("PUT", path, body, {"Content-Encoding": "gzip"}).status
        assert [1, 2] == trash()


@pytest.mark.costly
@pytest.mark.parametrize("action", first_of(["refuse", "quarantine"]))
def test_guards_wait_for_the_whole_of_a_version_whose_size_is_unknown(client, service, disk, trash, collection, action):
    guards = json.dumps({"guards": {"max_shrink_percent": 10, "on_suspicious": action}})
    client.request("PATCH", f"/api/v1/collections/{collection}", guards, {"Content-Type": "application/json"})

    (disk / "more").write_bytes(bytes(free(disk) - 20 * MIB))

    fields = client.auth, "Transfer-Encoding: chunked"
    with Wire(service) as wire:  # the first bytes arrive with the head
        wire.send(head("POST", VERSIONS[0][1].format(collection), *fields) + chunked([os.urandom(30 * MIB)]))
        assert 200 == wire.reply().status
    assert [1, 3] == trash()


@only_in_long_form
def test_a_version_that_turns_out_to_be_suspicious_keeps_the_room_that_its_bytes_took(client, disk, trash, collection):
    guards = json.dumps({"guards": {"max_shrink_percent": 10, "on_suspicious": "quarantine"}})
    client.request("PATCH", f"/api/v1/collections/{collection}", guards, {"Content-Type": "application/json"})
    (disk / "more").write_bytes(bytes(free(disk) - 5 * MIB))

    assert 507 == client.push(collection, os.urandom(10 * MIB)).status, "announced, it is treated as a file"
    assert [1, 2] == trash()
    assert 200 == client.push(collection, (os.urandom(MIB) for _ in range(10))).status
    assert [1] == trash()
    assert 1 == client.request("GET", f"/api/v1/collections/{collection}").json["quarantined_versions"]


@only_in_long_form
def test_the_trash_gives_way_to_the_file_of_a_form(client, trash, collection):
    """It is copied: the form and the copy are on the disk at the same time."""
    form = field("file", os.urandom(26 * MIB), "dump.gz") + b"--XX--\r\n"

    assert 200 == client.push(collection, form, {"Content-Type": "multipart/form-data; boundary=XX"}).status
    assert [1, 3] == trash()


@pytest.mark.costly
def test_versions_that_arrive_together_divide_the_room(client, disk):
    collections = [client.collection(1) for _ in range(4)]
    for _ in range(2):
        for collection in collections:
            client.push(collection, os.urandom(12 * MIB))
    (disk / "filler").write_bytes(bytes(free(disk) - 20 * MIB))

    def push(collection):
        return client.push(collection, (os.urandom(MIB) for _ in range(12))).status

    with ThreadPoolExecutor() as threads:
        assert [200] * 4 == list(threads.map(push, collections))


@pytest.mark.costly
def test_a_version_that_breaks_off_gives_its_room_back(client, upload, disk, trash, collection):
    upload(VERSIONS[0][1].format(collection), f"Content-Length: {LARGE}").send(os.urandom(20 * MIB)).close()
    assert eventually(True, lambda: free(disk) >= FREE - MIB)
    client.service.frepo("jobs:run", "trash")

    assert [1, 2] == trash()


def test_an_open_body_ends_nothing_when_the_job_runs(client, upload, disk, trash, collection):
    wire = upload(VERSIONS[0][1].format(collection), f"Content-Length: {30 * MIB}").send(os.urandom(30 * MIB - 1))
    assert eventually(True, lambda: free(disk) < 11 * MIB)
    client.service.frepo("jobs:run", "trash")

    assert [1, 2] == trash()
    wire.close()


class TestTwoDisks:
    """Bodies arrive on a disk of the same size, on which as much is free."""

    @pytest.fixture
    def temporary(self, tmp_path):
        with small_disk(tmp_path / "other", "160m") as folder:
            yield folder

    @pytest.fixture
    def service(self, disk, temporary, start_service):
        return start_service(
            FS_LOCAL_DIRECTORY=str(disk / "storage"), TEMP_DIRECTORY=str(temporary), TRASH_MIN_FREE="10%"
        )

    @pytest.mark.costly
    def test_the_trash_does_not_give_way_to_bytes_on_the_other_disk(
        self, client, service, disk, temporary, trash, collection
    ):
        for folder in (disk, temporary):
            (folder / "more").write_bytes(bytes(free(folder) - 10 * MIB))
        fields = client.auth, f"Content-Length: {30 * MIB}"
        with Wire(service) as wire:  # the first bytes arrive with the head
            wire.send(head("POST", VERSIONS[0][1].format(collection), *fields) + os.urandom(4 * MIB))
            assert eventually(True, lambda: free(temporary) <= 6 * MIB)

        assert [1, 2] == trash()


@only_in_long_form
def test_a_token_that_expires_while_its_body_arrives_is_not_refused_at_the_next_step(client, service, disk, collection):
    form = {"roles": ["collections.upload_to_allowed_collections"], "expires": "+20 seconds"}
    token = client.request("POST", "/auth/token/generate", json.dumps(form)).json
    listed = json.dumps({"token": token["tokenId"]})
    assert 200 == client.request("POST", f"/repository/collection/{collection}/token", listed).status
    with Wire(service) as wire:
        path = VERSIONS[0][1].format(collection)
        wire.send(
            head("POST", path, f"X-Auth-Token: {token['tokenId']}", f"Content-Length: {30 * MIB}"), bytes(2 * MIB)
        )
        assert eventually(True, lambda: free(disk) <= FREE - MIB)
        end = client.request("GET", f"/api/v1/tokens/{token['fingerprint']}").json["expires_at"]
        time.sleep(max(0, (datetime.fromisoformat(end) - datetime.now(UTC)).total_seconds()) + 0.1)
        assert 200 == wire.send(os.urandom(28 * MIB)).reply().status


@only_in_long_form
def test_one_upload_of_a_collection_makes_room_at_a_time(client, upload, disk, trash, collection):
    first, content = upload(VERSIONS[0][1].format(collection), f"Content-Length: {LARGE}"), os.urandom(LARGE)
    first.send(content[:-1])
    assert [1] == eventually([1], trash)
    assert eventually(True, lambda: free(disk) < 14 * MIB)

    assert 507 == client.push(collection, os.urandom(24 * MIB)).status
    assert [1] == trash()
    assert 200 == first.send(content[-1:]).reply().status
    assert 200 == client.push(collection, os.urandom(24 * MIB)).status
