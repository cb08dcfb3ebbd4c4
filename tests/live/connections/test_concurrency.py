"""Many clients at once, through real sockets and threads, on SQLite."""

import hashlib
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.wire import Client, Wire, blob_files, head, rows, traces


@pytest.fixture
def together():
    """Call a function with each argument, in as many threads."""

    def together(function, arguments):
        arguments = list(arguments)
        with ThreadPoolExecutor(len(arguments)) as pool:
            return list(pool.map(function, arguments))

    return together


def another(client):
    """A client with a token of its own: an upload that a later one of its token overtakes is put into quarantine."""
    body, kind = b'{"roles": ["security.administrator"]}', {"Content-Type": "application/json"}
    made = client.request("POST", "/api/v1/tokens", body, kind)
    return Client(client.service, made.json["secret"])


def test_ten_concurrent_pushes_get_consecutive_numbers_and_the_newest_three_are_kept(service, client, together):
    collection, before = client.collection(3), len(blob_files(service))
    contents = [os.urandom(700_000) for _ in range(10)]
    replies = together(lambda content: another(client).push(collection, content), contents)
    numbers = {reply.json["version"]["version"]: content for reply, content in zip(replies, contents, strict=True)}
    kept = client.versions(collection)

    assert list(range(1, 11)) == sorted(numbers)
    assert ["8", "9", "10"] == list(kept)
    assert [hashlib.sha256(numbers[number]).hexdigest() for number in (8, 9, 10)] == [
        version["details"]["sha256"] for version in kept.values()
    ]
    assert before + 10 == len(blob_files(service)), "the evicted versions are in the trash"


def test_kept_versions_are_complete(client, together):
    collection = client.collection(3)
    together(lambda size: another(client).push(collection, os.urandom(size)), range(600_000, 600_010))
    for version in client.versions(collection).values():
        path = version["url"].split(client.service.address)[1]
        body = client.request("GET", path, token=False).body

        assert version["details"]["sha256"] == hashlib.sha256(body).hexdigest()


def test_concurrent_uploads_of_the_same_content_store_it_once(service, client, together):
    content, before = os.urandom(2_000_000), traces(service)
    replies = together(lambda number: client.upload(content, f"{number}.bin"), range(8))
    after = traces(service)

    assert {200, 202} >= {reply.status for reply in replies}
    assert (1, 1) == (after["object"] - before["object"], len(after["blobs"]) - len(before["blobs"]))


def test_concurrent_pushes_of_the_same_content_are_one_version_each(service, client, together):
    collection, content, before = client.collection(), os.urandom(2_000_000), len(blob_files(service))
    together(lambda _: another(client).push(collection, content), range(8))

    assert ([str(number) for number in range(1, 9)], before + 1) == (
        list(client.versions(collection)),
        len(blob_files(service)),
    )


def test_more_clients_than_threads_are_all_served(service, client, together):
    before = rows(service)["file"]
    replies = together(lambda number: client.upload(os.urandom(1000), f"{number}.bin").status, range(40))

    assert ({200}, before + 40) == (set(replies), rows(service)["file"])


def test_a_commit_of_another_process_is_visible_to_the_next_of_many_requests(service, client, together):
    """One query answers all waiting requests."""
    other = sqlite3.connect(service.folder / "frepo.db", isolation_level=None)
    names = [client.upload(os.urandom(1000), f"{number}.bin", public="true").json["filename"] for number in range(40)]
    done = threading.Event()

    def ask_all_the_time(name):
        while not done.is_set():
            client.download(name)

    late = []
    with ThreadPoolExecutor(6) as pool:
        pool.map(ask_all_the_time, [names[-1]] * 6)
        for name in names[:-1]:
            before = client.download(name).status
            other.execute("DELETE FROM file WHERE stored_name = ?", [name])
            late.append((before, client.download(name).status))
        done.set()
    other.close()

    assert set(late) == {(200, 404)}


def test_a_request_after_a_deletion_on_the_same_connection_sees_it(service, client):
    name = client.upload(os.urandom(1000), public="true").json["filename"]
    client.download(name)
    path = f"/repository/file/{name}"
    with Wire(service) as wire:
        wire.send(head("DELETE", path, client.auth) + head("GET", path))

        assert (200, 404) == (wire.reply().status, wire.reply("GET").status)
