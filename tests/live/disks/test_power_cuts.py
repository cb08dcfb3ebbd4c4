"""A power cut after an answer loses nothing that was acknowledged: the disk keeps what was synced, and no more.

A service runs under strace. From its system calls follows what a disk may have lost when the power is cut at the
moment at which an answer leaves. A service that starts with such a disk has each upload with its bytes.
"""

import hashlib
import os
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from frepo_core.services.content.spool import IN_MEMORY
from support.power.recording import RecordedService
from support.power.unsynced import KINDS
from support.scale import IS_BIG
from support.servers.service import Service
from support.tus.wire_client import WireTus
from support.wire import Client, Reply, form
from support.wire import field as form_field

SIZE, HALF = 60_000, 25_000
# A service makes these anew: SQLite's index of its log, room that is kept free, locks, and counters of processes.
MADE_ANEW = ("frepo.db-shm", "frepo.db-reserve", ".frepo-uploads.lock", ".lock", "/temporary")
Promise = Callable[[Client], None]


class RecordedClient(Client):
    """Follows the disk to the moment at which each answer leaves."""

    service: RecordedService

    def request(self, method: str, path: str, *more: Any, **named: Any) -> Reply:
        reply = super().request(method, path, *more, **named)
        self.service.answered(f"HTTP/1.1 {reply.status}")
        return reply


@dataclass
class Site:
    """A recorded service, and what it has promised."""

    client: RecordedClient
    collection: str
    tus: WireTus
    promises: dict[str, Promise] = field(default_factory=dict)

    @property
    def service(self) -> RecordedService:
        return self.client.service

    def promise_file(self, name: str, content: bytes) -> None:
        """Note that a file of the first API was acknowledged."""

        def is_there(client: Client) -> None:
            assert content == client.download(name).body

        self.promises[name] = is_there

    def promise_version(self, content: bytes) -> None:
        """Note that a version was acknowledged."""
        digest, path = hashlib.sha256(content).hexdigest(), f"/api/v1/collections/{self.collection}/versions"

        def is_there(client: Client) -> None:
            numbers = [one["number"] for one in client.request("GET", path).json["items"] if one["sha256"] == digest]
            assert numbers
            for number in numbers:
                assert content == client.request("GET", f"{path}/v{number}/content").body

        self.promises[digest] = is_there

    def promise_part(self, path: str, content: bytes, size: int) -> None:
        """Note that the first `size` bytes of an upload in parts were acknowledged: it can be ended with the rest."""

        def is_there(client: Client) -> None:
            tus = WireTus(client)
            offset = tus.offset(path)
            assert offset >= size
            assert tus.patch(path, offset, content[offset:]).status == 204
            assert (
                content == client.request("GET", f"/api/v1/collections/{self.collection}/versions/latest/content").body
            )

        self.promises[path] = is_there


def push_raw(site: Site, content: bytes) -> None:
    site.promise_file(site.client.upload(content).json["filename"], content)


def push_large(site: Site, content: bytes) -> None:
    """Upload what does not fit into memory: the storage links its file into place."""
    push_raw(site, content * (IN_MEMORY // len(content) + 1))


def push_form(site: Site, content: bytes) -> None:
    body = form(form_field("file", content, "a.bin"))
    site.promise_file(site.client.multipart(body, "XX").json["filename"], content)


def push_version(site: Site, content: bytes) -> None:
    assert site.client.push(site.collection, content).status == 200
    site.promise_version(content)


def push_equal_version(site: Site, content: bytes) -> None:
    push_version(site, content)
    push_version(site, content)


def push_v1_version(site: Site, content: bytes) -> None:
    assert site.client.request("PUT", f"/api/v1/collections/{site.collection}/versions", content).status == 201
    site.promise_version(content)


def push_v1_file(site: Site, content: bytes) -> None:
    reply = site.client.request("POST", "/api/v1/files?name=a.bin", content)
    site.promise_file(reply.json["name"], content)


def create_parts(site: Site, content: bytes) -> None:
    site.promise_part(site.tus.create(len(content), collection=site.collection), content, 0)


def create_with_part(site: Site, content: bytes) -> None:
    path = site.tus.create(len(content), content[:HALF], collection=site.collection)
    site.promise_part(path, content, HALF)


def push_part(site: Site, content: bytes) -> None:
    path = site.tus.create(len(content), content[:HALF], collection=site.collection)
    assert site.tus.patch(path, HALF, content[HALF : HALF * 2]).status == 204
    site.promise_part(path, content, HALF * 2)


def push_last_part(site: Site, content: bytes) -> None:
    path = site.tus.create(len(content), content[:HALF], collection=site.collection)
    assert site.tus.patch(path, HALF, content[HALF:]).status == 204
    site.promise_version(content)


def commit_parts(site: Site, content: bytes) -> None:
    path = site.tus.create(len(content), content, {"Upload-Commit": "required"}, collection=site.collection)
    assert site.tus.commit(path, exit_statuses=[0]).json["state"] == "committed"
    site.promise_version(content)


# Those in parts first: the first upload makes the folder of its kind.
UPLOADS = (
    *(create_parts, create_with_part, push_part, push_last_part, commit_parts),
    *(push_raw, push_large, push_form, push_version, push_equal_version, push_v1_version, push_v1_file),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    made = make_site(tmp_path_factory.mktemp("cut"))
    yield made
    made.service.stop()


def make_site(folder: Path, without: str = "") -> Site:
    disk, logs = folder / "disk", folder / "logs"
    disk.mkdir()
    logs.mkdir()
    service = RecordedService(disk, logs, without)
    service.record()
    client = RecordedClient(service)
    return Site(client, client.collection(), WireTus(client))


def require_kept(site: Site, folder: Path, make_service: Callable[..., Service], *has: Any) -> None:
    """Require that a service which starts with what is left of the disk keeps all promises."""
    site.service.disk.write_to(folder, *has)
    service = make_service(folder)
    try:
        service.start()
        for promise in site.promises.values():
            promise(Client(service, site.client.token))
    finally:
        service.stop()


def cuts() -> Iterator[tuple[Any, ...]]:
    """Yield what is left of what was not synced: nothing; in the long form also all names, and some at random."""
    yield ()
    if IS_BIG:
        yield (lambda: True,)
        for number in range(4):
            chance = random.Random(number)
            yield lambda chance=chance: chance.random() < 0.5, lambda _, chance=chance: chance.random() < 0.5


@pytest.mark.parametrize("upload", UPLOADS)
def test_a_power_cut_after_an_answer_loses_nothing(site: Site, tmp_path: Path, make_service, upload):
    upload(site, os.urandom(SIZE))
    disk = site.service.disk

    assert [] == [path for path in disk.unsynced() if not path.endswith(MADE_ANEW) and "/temporary/" not in path]
    assert {"frepo.db-shm"} >= {Path(path).name for path in disk.differences()}
    for number, has in enumerate(cuts()):
        require_kept(site, tmp_path / f"left-{number}", make_service, *has)


def write_journal(site: Site, content: bytes) -> None:
    """Upload a version, and let the journal have it: it continues a catalogue."""
    site.service.stop()
    site.service.run("jobs:run", "catalogue")
    site.service.start_again()
    push_version(site, content)
    site.service.stop()
    site.service.run("jobs:run", "journal")


def require_recovered(site: Site, folder: Path, make_service: Callable[..., Service]) -> None:
    """Require that a recovery from what is left of the storage finds the versions."""
    site.service.disk.write_to(folder)
    for path in folder.glob("frepo.db*"):
        path.unlink()
    service = make_service(folder)
    service.frepo("recover", "--from", "local", "--yes")
    service.start()
    try:
        for promise in site.promises.values():
            promise(Client(service, site.client.token))
    finally:
        service.stop()


@pytest.mark.costly
def test_what_the_journal_has_survives_a_power_cut_and_the_loss_of_the_database(tmp_path: Path, make_service):
    site = make_site(tmp_path)
    try:
        write_journal(site, os.urandom(SIZE))
    finally:
        site.service.stop()

    require_recovered(site, tmp_path / "left", make_service)


# What loses something without a kind of sync.
LOSES = {
    "bytes of a blob": push_raw,
    "bytes of a blob that is linked": push_large,
    "name of a blob": push_version,
    "bytes of a part": push_part,
    "record of a part": push_part,
    "name of a record": push_part,
    "mark of the folder for parts": push_part,
    "secrets": push_raw,
    "database": push_v1_version,
    "journal": write_journal,
}


@pytest.mark.skipif(not IS_BIG, reason="only in the long form: FREPO_TEST_BIG=1")
@pytest.mark.parametrize("kind", KINDS)
def test_without_a_kind_of_sync_a_power_cut_loses_something(tmp_path: Path, make_service, kind: str):
    site = make_site(tmp_path, without=kind)
    try:
        LOSES[kind](site, os.urandom(SIZE))
    finally:
        site.service.stop()

    with pytest.raises((AssertionError, KeyError, TypeError, RuntimeError, subprocess.CalledProcessError)):
        if kind == "journal":
            require_recovered(site, tmp_path / "left", make_service)
        else:
            require_kept(site, tmp_path / "left", make_service)
