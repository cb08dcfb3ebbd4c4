"""The load of a soak: clients of all kinds, most of them well-behaved, that record their answers."""

import os
import random
import socket
import struct
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from support.reliability.invariants import digest_of
from support.reliability.protections import Protections
from support.reliability.recording_client import BROKEN, RecordingClient
from support.wire import Wire, head

PAUSE_SECONDS = 0.2
FILES = 40
SIZES = [10, 3_000, 100_000, 700_000, 2_000_000]
# The number of versions that a plain collection keeps.
KEPT = 3


class Clients:
    """Threads that act at random until `end`; `pause` pauses all of them."""

    def __init__(self, callers: list[RecordingClient], clients: int) -> None:
        self.callers = callers
        self.seen: Counter[str] = Counter()
        self.problems: list[str] = []
        self._names: deque[str] = deque()
        self._common = [os.urandom(60_000) for _ in range(3)]
        admin = callers[0]
        self._plain = [admin.collection(KEPT) for _ in range(3)]
        self._edited, self._deleting = admin.collection(3), admin.collection(5)
        admin.ledger.edited.add(self._edited)
        self._protections = Protections(admin)
        for seed in range(20):  # the memory of first requests is no growth
            self._protections.act(random.Random(seed), admin)
        self._busy = [threading.Lock() for _ in range(clients)]
        self._ended = False
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(clients)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._ended = True
        for thread in self._threads:
            thread.join(120)

    def pause(self) -> None:
        """Wait until each thread has finished its action, and start no further actions."""
        for lock in self._busy:
            lock.acquire()

    def resume(self) -> None:
        for lock in self._busy:
            lock.release()

    def _run(self, number: int) -> None:
        rng = random.Random(number)
        weights = list(ACTIONS.values())
        while not self._ended:
            time.sleep(rng.uniform(0, PAUSE_SECONDS))
            (act,) = rng.choices(list(ACTIONS), weights)
            with self._busy[number]:
                try:
                    status = act(self, rng, rng.choice(self.callers))
                except BROKEN:
                    status = 0
                except Exception as error:  # noqa: BLE001  # a client that ends would make the soak look calm
                    self.problems.append(f"{act.__name__}: {error!r}")
                    continue
            self.seen[f"{act.__name__} {status}"] += 1
            if status not in {0, 200, 201, 202, 204, 400, 403, 404, 409, 422, 500, 503}:
                self.problems.append(f"{act.__name__} was answered {status}")

    def push(self, rng: random.Random, caller: RecordingClient) -> int:
        return caller.push_and_record(rng.choice(self._plain), rng.randbytes(rng.choice(SIZES)))

    def push_common(self, rng: random.Random, caller: RecordingClient) -> int:
        return caller.push_and_record(rng.choice(self._plain), rng.choice(self._common))

    def push_and_delete(self, rng: random.Random, caller: RecordingClient) -> int:
        if rng.random() < 0.6:
            return caller.push_and_record(self._deleting, rng.randbytes(5_000))
        numbers = [int(number) for number in _versions(caller, self._deleting)] or [1]
        return caller.delete_and_record(self._deleting, rng.choice(numbers))

    def push_and_edit(self, rng: random.Random, caller: RecordingClient) -> int:
        if rng.random() < 0.7:
            return caller.push_and_record(self._edited, rng.randbytes(5_000))
        return caller.edit_and_record(self._edited, maxBackupsCount=rng.choice([1, 2, 3, 4]))

    def push_again(self, rng: random.Random, caller: RecordingClient) -> int:
        """Send a version twice with one key: both answers are the same, unless the first was rotated out in between."""
        collection, content = rng.choice(self._plain), rng.randbytes(20_000)
        key = {"Idempotency-Key": digest_of(content)}
        replies = [caller.push(collection, content, key) for _ in range(2)]
        good = [reply.json["version"]["version"] for reply in replies if reply.status == 200]
        for number in set(good):
            caller.ledger.acknowledge(collection, number, content)
        assert len(set(good)) <= 1 or good[1] > good[0] + KEPT, f"one key, the versions {good}"
        return replies[0].status

    def upload(self, rng: random.Random, caller: RecordingClient) -> int:
        content = rng.randbytes(rng.choice(SIZES[:4]))
        reply = caller.upload(content, f"{rng.randrange(1000)}.bin")
        if reply.status in {200, 202}:
            caller.ledger.acknowledge_file(reply.json["filename"], content)
            self._names.append(reply.json["filename"])
        if len(self._names) > FILES:
            name = self._names.popleft()
            caller.ledger.ask_to_remove(name)
            caller.request("DELETE", f"/repository/file/{name}")
        return reply.status

    def read_file(self, rng: random.Random, caller: RecordingClient) -> int:
        name = rng.choice([*self._names] or ["nothing"])
        reply = caller.download(name)
        if reply.status == 200:
            expected = caller.ledger.files.get(name)
            assert expected in {None, digest_of(reply.body)}, f"{name} has other bytes"
        return reply.status

    def read_version(self, rng: random.Random, caller: RecordingClient) -> int:
        collection = rng.choice(self._plain)
        for number, version in _versions(caller, collection).items():
            reply = caller.request("GET", version["url"].removeprefix(caller.service.url), token=False)
            if reply.status == 200:
                assert version["details"]["sha256"] == digest_of(reply.body), f"v{number} has other bytes"
            return reply.status
        return 404

    def break_off(self, rng: random.Random, caller: RecordingClient) -> int:
        """Stop in the middle of a body: by a reset, by an orderly close, or by staying idle."""
        with Wire(caller.service) as wire:
            size = rng.choice(SIZES[2:])
            path = f"/repository/collection/{rng.choice(self._plain)}/backup"
            wire.send(head("POST", path, caller.auth, f"Content-Length: {size}"), os.urandom(rng.randrange(size)))
            if rng.random() < 0.5:
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return 0

    def push_slowly(self, rng: random.Random, caller: RecordingClient) -> int:
        """Push a version slowly in small pieces."""
        content, collection = rng.randbytes(rng.randrange(30, 300)), rng.choice(self._plain)

        def drops() -> Any:
            for at in range(0, len(content), 30):
                time.sleep(0.05)
                yield content[at : at + 30]

        reply = caller.push(collection, drops())
        if reply.status == 200:
            caller.ledger.acknowledge(collection, reply.json["version"]["version"], content)
        return reply.status

    def protect(self, rng: random.Random, caller: RecordingClient) -> int:
        """Pin, quarantine, release, delete, restore or end a version, or delete or restore a collection."""
        return self._protections.act(rng, caller)

    def send_nonsense(self, rng: random.Random, caller: RecordingClient) -> int:
        path = rng.choice(["/nowhere", "/repository/collection/x/backup", "/repository/file/none", "/auth/token/x"])
        return caller.request("GET", path, headers={"X-Auth-Token": rng.choice(["x", caller.service.admin])}).status

    def make_token(self, rng: random.Random, caller: RecordingClient) -> int:
        body = b'{"roles": ["upload.all"], "data": {}, "expires": "+1 minute"}'
        reply = caller.request("POST", "/auth/token/generate", body)
        if reply.status in {200, 202}:
            token = reply.json["tokenId"]
            caller.ledger.secrets.add(token)
            with suppress(*BROKEN):
                caller.request("DELETE", f"/auth/token/{token}")
        return reply.status


def _versions(caller: RecordingClient, collection: str) -> dict[str, Any]:
    """List a collection's versions; return an empty list while the service is not available."""
    reply = caller.request("GET", f"/repository/collection/{collection}/backup")
    return dict(reply.json["versions"]) if reply.status == 200 else {}


ACTIONS: dict[Callable[[Clients, random.Random, RecordingClient], int], int] = {
    Clients.push: 25,
    Clients.push_common: 10,
    Clients.push_and_delete: 8,
    Clients.push_and_edit: 8,
    Clients.push_again: 4,
    Clients.upload: 12,
    Clients.read_file: 12,
    Clients.read_version: 10,
    Clients.break_off: 6,
    Clients.push_slowly: 3,
    Clients.protect: 15,
    Clients.send_nonsense: 5,
    Clients.make_token: 2,
}
