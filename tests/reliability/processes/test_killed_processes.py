"""A service, its worker, their programs and commands are killed at random, among uploads in parts: nothing is lost.

The two collections are in a group, so that versions of one are differences to those of the other.
"""

import contextlib
import gzip
import hashlib
import os
import random
import signal
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.encodings.nights import nights
from support.reliability.recording_client import BROKEN, in_threads
from support.scale import IS_BIG
from support.servers.fork_server import ForkedProcess
from support.tus.wire_client import WireTus
from support.wire import Client

KILLS, MACHINES = (60, 5) if IS_BIG else (8, 1)
CONTENTS = 450  # all are on one page of a list
PART = 9_000
JSON = {"Content-Type": "application/json"}
SECONDS = 60
# Every second, so that a kill meets them.
JOBS = ("MIRROR", "JOURNAL", "COMPACT", "INTEGRITY_DEEP", "SWEEP", "MIGRATE")


@dataclass
class Part:
    """An upload in parts, of which `offset` bytes were acknowledged."""

    path: str
    content: bytes
    offset: int = 0


@dataclass
class Known:
    """What clients know: digests that were acknowledged and by what, those that may be deleted, and open uploads."""

    acknowledged: dict[str, str] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    parts: list[Part] = field(default_factory=list)


class Clients:
    """Push and delete versions, and send parts, at random. An answer that breaks off acknowledges nothing."""

    def __init__(self, service: Any, seed: int) -> None:
        self.service, self.known, self.draw = service, Known(), random.Random(seed)
        self.done = Counter[str]()
        client = Client(service)
        self._token = client.token
        self.collections = [client.collection(CONTENTS, filename="db.sql") for _ in range(2)]
        for name in self.collections:
            client.request("PATCH", f"/api/v1/collections/{name}", b'{"compact_group": "hosts"}', JSON)
        self._nights = list(nights(CONTENTS, 120, changed=0.05, seed=seed))

    def act(self) -> None:
        """Do something, until an answer breaks off."""
        name = self.draw.choice(["push", "push", "delete", "begin", "go_on", "go_on", "go_on"])
        with contextlib.suppress(*BROKEN):
            getattr(self, f"_{name}")(Client(self.service))
            self.done[name] += 1

    def load(self, ends: Any) -> None:
        """Act until something ends."""
        while not ends():
            self.act()
            time.sleep(0.05)  # so that there is something left to upload

    def end_parts(self) -> None:
        """End all uploads in parts that are not ended."""
        while self.known.parts:
            self._go_on(Client(self.service))

    def check(self, service: Any = None) -> None:
        """Everything that was acknowledged is read as it was sent."""
        client = Client(service or self.service, self._token)
        found = {name: self._find(client, name) for name in self.collections}
        there = {digest for versions in found.values() for digest in versions.values()}
        lost = self.known.acknowledged.keys() - self.known.deleted - there
        assert not lost, {digest: self.known.acknowledged[digest] for digest in lost}
        for name, versions in found.items():
            for number, digest in versions.items():
                content = client.request("GET", f"/api/v1/collections/{name}/versions/v{number}/content").body
                assert digest == hashlib.sha256(content).hexdigest(), number

    def _find(self, client: Client, collection: str) -> dict[int, str]:
        """Return the digests of all versions of a collection by their numbers."""
        path = f"/api/v1/collections/{collection}/versions?limit=500"
        return {one["number"]: one["sha256"] for one in client.request("GET", path).json["items"]}

    def _push(self, client: Client) -> None:
        content = self._content()
        if content and client.push(self.draw.choice(self.collections), content).status == 200:
            self._acknowledge(content, "a push")

    def _delete(self, client: Client) -> None:
        collection = self.draw.choice(self.collections)
        versions = self._find(client, collection)
        if len(versions) > 3:
            number = self.draw.choice(sorted(versions))
            self.known.deleted.add(versions[number])
            client.request("DELETE", f"/repository/collection/{collection}/backup/v{number}")

    def _begin(self, client: Client) -> None:
        content = self._content() if len(self.known.parts) < 3 else b""
        if content:
            collection = self.draw.choice(self.collections)
            self.known.parts.append(Part(WireTus(client).create(len(content), collection=collection), content))

    def _go_on(self, client: Client) -> None:
        """Ask for the offset, and send a part. If the last answer was lost, the upload may have ended."""
        if not self.known.parts:
            return
        tus, part = WireTus(client), self.draw.choice(self.known.parts)
        head = tus.head(part.path)
        if head.status == 423:  # it is just being stored
            return
        assert head.status == 200, head.status
        offset = int(head.headers["Upload-Offset"])
        assert offset >= part.offset, (offset, part.offset)
        how = "the offset of an upload in parts"
        if offset < len(part.content):
            reply = tus.patch(part.path, offset, part.content[offset : offset + PART])
            assert reply.status in (204, 423, 409), reply.body  # another process has just begun to end it
            if reply.status == 204:
                how, offset = "the last part", min(offset + PART, len(part.content))
                part.offset = offset
        if offset == len(part.content):
            self.known.parts.remove(part)
            self._acknowledge(part.content, how)

    def _content(self) -> bytes:
        if not self._nights:
            return b""
        content = self._nights.pop()
        return gzip.compress(content, mtime=0) if self.draw.random() < 0.4 else content

    def _acknowledge(self, content: bytes, by: str) -> None:
        self.known.acknowledged[hashlib.sha256(content).hexdigest()] = by


class Machine:
    """A service and a worker, each a process."""

    def __init__(self, service: Any, fork_server: Any) -> None:
        self.service, self._fork_server, self._draw = service, fork_server, random.Random(1)
        self.worker: Any = None

    def start(self) -> None:
        """Start what does not run."""
        if self.service.process is None or self.service.process.poll() is not None:
            self.service.start()
        if self.worker is None or self.worker.poll() is not None:
            self.worker = self._start_command("worker")

    def kill(self, what: str) -> bool:
        """Kill the service, the worker, a command, or a program that the worker runs, if there is one soon."""
        if what == "service":
            self.service.stop(signal.SIGKILL)
        elif what == "worker":
            self.worker.kill()
            assert self.worker.wait(SECONDS) == -signal.SIGKILL
        elif what == "command":
            self._kill_command()
        else:
            return self._kill_program()
        return True

    def stop(self) -> None:
        """Stop both as usual."""
        self.worker.send_signal(signal.SIGTERM)
        self.worker.wait(SECONDS)
        self.service.stop()

    def _kill_command(self) -> None:
        """Kill `frepo compact`, which encodes at once, or `frepo compact --expand`, after some time."""
        arguments = self._draw.choice([["compact"], ["compact", "--expand"]])
        command = self._start_command(*arguments)
        time.sleep(self._draw.uniform(0.3, 2))
        command.kill()
        command.wait(SECONDS)

    def _start_command(self, *arguments: str) -> Any:
        order = self.service._order(self.service.folder / "command.log")
        return ForkedProcess(self._fork_server, console=["--ini", str(self.service.ini), *arguments], **order)

    def _kill_program(self) -> bool:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                tasks = Path(f"/proc/{self.worker.pid}/task").glob("*/children")
                for pid in " ".join(task.read_text() for task in tasks).split():
                    os.kill(int(pid), signal.SIGKILL)
                    return True
            time.sleep(0.005)
        return False


def settings(folder: Path) -> dict[str, str]:
    """Return the settings of a service with two storages, whose second one is in a folder."""
    return {f"JOBS_{name}": "every 1s" for name in JOBS} | {
        "WORKER_IN_PROCESS": "false",
        "WORKER_LEASE": "2",
        "STORAGES": "second",
        "STORAGE_SECOND_ADAPTER": "local",
        "STORAGE_SECOND_DIRECTORY": str(folder / "second"),
        "MIRROR": "second",
        "MIRROR_RATE": "0",
        "COMPACT": "true",
        "COMPACT_AFTER": "0s",
        "COMPACT_FORMAT": "2",
        "COMPACT_NEWEST": "shared",
        "UPLOADS_MAX_OPEN": str(CONTENTS),  # nobody knows of one whose creation was not answered
        "QUARANTINE_MAX": str(CONTENTS),  # a check that was killed may leave a version there, and one there gives way
        "INTEGRITY_INLINE_LIMIT": "1kB",
        "INTEGRITY_COMMAND": "type:application/gzip = sleep 0.3",  # a check that a kill meets
    }


@pytest.fixture
def machine(make_service, fork_server, tmp_path):
    machine = Machine(make_service(tmp_path, environment=settings(tmp_path)), fork_server)
    machine.start()
    yield machine
    machine.stop()


@pytest.fixture
def recover(machine, make_service, tmp_path):
    """Recover the database on another machine, which has nothing but the second storage and the secrets."""
    folder = tmp_path / "new"
    folder.mkdir()
    secrets = {"APP_SECRETS_FILE": machine.service.environment["APP_SECRETS_FILE"]}
    service = make_service(folder, environment=settings(tmp_path) | secrets)

    def recover():
        service.frepo("db:upgrade")
        service.frepo("recover", "--from", "second", "--yes")
        service.start()
        return service

    yield recover
    service.stop()


@pytest.mark.costly
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(MACHINES))
def test_kills_of_all_processes_among_uploads_in_parts_lose_nothing(machine, recover, seed):
    clients, killed = Clients(machine.service, seed), Counter[str]()
    clients.load(lambda: len(clients.known.acknowledged) > 3)
    for number in range(KILLS):
        what = ("service", "worker", "program", "command")[number % 4]
        ended = threading.Event()
        (thread,) = in_threads(lambda ended=ended: clients.load(ended.is_set))
        time.sleep(clients.draw.uniform(0, 0.6))
        killed[what] += machine.kill(what)
        ended.set()
        thread.join(SECONDS)
        machine.start()
        clients.check()
    clients.end_parts()
    clients.check()
    machine.stop()
    for job in ("mirror", "catalogue", "journal"):
        machine.service.frepo("jobs:run", job)
    clients.check(recover())

    assert {"service", "worker", "program", "command"} == set(+killed)
    assert {"push", "delete", "begin", "go_on"} == set(clients.done)
