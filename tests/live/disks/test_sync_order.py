"""Acknowledged content survives a power cut: everything is synced in order before the answer is sent."""

import hashlib
import os
from pathlib import Path

import pytest

from support.servers.tracing import TracedService
from support.tus.client import checksum
from support.tus.wire_client import WireTus
from support.wire import Client

ORDER = ["write data", "sync data", "name", "sync folder", "write database", "sync database", "answer"]
SIZES = {"small": 4000, "large": 3 << 20}
WRITES = {"write", "writev", "pwrite64"}
SYNCS = {"fsync", "fdatasync"}
MAKES = {"mkdir", "mkdirat"}


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    # The worker writes at any time, also between the calls of an upload.
    service = TracedService(tmp_path_factory.mktemp("traced"), {"WORKER_IN_PROCESS": "false"})
    service.start()
    Client(service).upload(b"the first upload makes the storage's root")
    service.calls("HTTP/1.1 200")
    yield service
    service.stop()


@pytest.fixture
def client(traced):
    return Client(traced)


def fresh_content(service, size):
    """Make a content whose folder in the storage does not exist yet."""
    while True:
        content = os.urandom(size)
        if not (service.storage / hashlib.sha256(content).hexdigest()[:2]).exists():
            return content


def find_name(service, calls):
    """Return the system call that named the blob."""
    named = [
        call
        for call in calls
        if call.name.startswith(("rename", "link")) and call.texts[-1].startswith(f"{service.storage}/")
    ]
    assert 1 == len(named)
    return named[0]


def find_path(calls, name):
    """Return the path of the file that `name` named: a rename says it, a link names a descriptor that was synced."""
    source = name.texts[0]
    if name.name.startswith("rename"):
        return source
    return [call.path for call in calls[: calls.index(name)] if call.name in SYNCS and call.descriptor == source][-1]


def steps(service, calls):
    """Return the steps for the blob and its row, without immediate repetitions."""
    name = find_name(service, calls)
    data = find_path(calls, name)
    folder, database = str(Path(name.texts[-1]).parent), f"{service.folder}/frepo.db-wal"
    found = []
    for call in calls:
        step = ""
        if call is name:
            step = "name"
        elif call is calls[-1]:
            step = "answer"
        elif call.path == database:
            step = "write database" if call.name in WRITES else "sync database"
        elif call.path == folder and call.name in SYNCS:
            step = "sync folder"
        elif call.path == data and call.name in WRITES | SYNCS:
            step = "write data" if call.name in WRITES else "sync data"
        if step and found[-1:] != [step]:
            found.append(step)
    return found


def not_synced(calls):
    """Return the created folders whose names were not synced afterwards."""
    folders = {call.texts[0]: index for index, call in enumerate(calls) if call.name in MAKES}
    syncs = [(index, call.path) for index, call in enumerate(calls) if call.name in SYNCS]
    return [
        folder
        for folder, made in folders.items()
        if not any(index > made and path == str(Path(folder).parent) for index, path in syncs)
    ]


@pytest.mark.parametrize("sent", ["raw", "chunked"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("what", ["file", "version"])
def test_an_upload_is_answered_after_everything_is_synced(traced, client, what, size, sent):
    collection = client.collection() if what == "version" else ""
    if collection:
        traced.calls("HTTP/1.1 202")
    content = fresh_content(traced, SIZES[size])
    body = content if sent == "raw" else iter([content])
    answer = client.push(collection, body) if collection else client.upload(body)
    calls = traced.calls("HTTP/1.1 200")

    assert 200 == answer.status
    assert ORDER == steps(traced, calls)
    assert [] == not_synced(calls)
    assert any(call.name in MAKES for call in calls)


@pytest.mark.parametrize("headers", [{}, {"Upload-Checksum": checksum(bytes(300_000))}], ids=["plain", "checksum"])
def test_a_part_is_acknowledged_after_it_is_synced(traced, client, headers):
    tus = WireTus(client)
    path = tus.create(1_000_000, filename="a.bin")
    traced.calls("HTTP/1.1 201")
    answer = tus.patch(path, 0, bytes(300_000), headers)
    calls = traced.calls("HTTP/1.1 204")

    assert (204, "300000") == (answer.status, answer.headers["Upload-Offset"])
    assert ["write part", "sync part", "sync record", "name record", "sync folder", "answer"] == part_steps(calls)


def part_steps(calls):
    """Return the steps for the bytes of a part and for the record that acknowledges it, without repetitions."""
    record = next(call for call in calls if call.name.startswith("rename") and call.texts[-1].endswith(".json"))
    found = []
    for call in calls:
        is_sync, step = call.name in SYNCS, ""
        if call is record or call is calls[-1]:
            step = "name record" if call is record else "answer"
        elif call.path.endswith(".part"):
            step = "sync part" if is_sync else "write part" if call.name in WRITES else ""
        elif is_sync:
            synced = {record.texts[0]: "sync record", str(Path(record.texts[0]).parent): "sync folder"}
            step = synced.get(call.path, "")
        if step and found[-1:] != [step]:
            found.append(step)
    return found
