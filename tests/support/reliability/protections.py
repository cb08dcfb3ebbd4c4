"""Requests that use what protects versions: pins, notes, quarantine, the trash, and deleted collections."""

import json
import random
import threading
from collections.abc import Callable
from typing import Any

from support.reliability.invariants import digest_of
from support.reliability.recording_client import BROKEN, RecordingClient

V1 = "/api/v1"
GOOD, SMALL = 3_000, 300
EDIT = {"Content-Type": "application/merge-patch+json"}


class Protections:
    """Two collections, and requests at random that change how their versions are protected.

    One request at a time, so that the ledger knows what is pinned. Its answer may be lost.
    """

    def __init__(self, admin: RecordingClient) -> None:
        self._kept = self._create(admin, 4)
        self._deleted = self._create(admin, 2)
        self._lock = threading.Lock()

    def act(self, rng: random.Random, caller: RecordingClient) -> int:
        """Send a request; return the status of its answer. Raises one of `BROKEN` if there is none."""
        with self._lock:
            try:
                status = rng.choices(list(ACTIONS), list(ACTIONS.values()))[0](self, rng, caller)
            except BROKEN:
                caller.ledger.unanswered |= {self._kept, self._deleted}
                raise
            if status >= 500:
                caller.ledger.unanswered |= {self._kept, self._deleted}
            return status

    def push(self, rng: random.Random, caller: RecordingClient) -> int:
        return self._push(rng, caller, rng.choice([self._kept, self._deleted]), GOOD)

    def push_suspicious(self, rng: random.Random, caller: RecordingClient) -> int:
        return self._push(rng, caller, self._kept, SMALL)

    def pin(self, rng: random.Random, caller: RecordingClient) -> int:
        """Pin a version, or unpin it: it may be older than versions that were evicted meanwhile."""
        number, ledger, pinned = self._number(rng, caller), caller.ledger, rng.random() < 0.5
        if not pinned:
            ledger.pinned.discard((self._kept, number))
            ledger.released.add((self._kept, number))
        status = self._edit(caller, number, pinned=pinned)
        if status == 200 and pinned:
            ledger.pinned.add((self._kept, number))
        return status

    def note(self, rng: random.Random, caller: RecordingClient) -> int:
        return self._edit(caller, self._number(rng, caller), note=rng.choice(["", "before the move"]))

    def release(self, rng: random.Random, caller: RecordingClient) -> int:
        number = self._number(rng, caller)
        caller.ledger.released.add((self._kept, number))
        status = self._edit(caller, number, quarantined=False)
        if status == 200:
            caller.ledger.quarantined.discard((self._kept, number))
        return status

    def delete(self, rng: random.Random, caller: RecordingClient) -> int:
        return caller.delete_and_record(self._kept, self._number(rng, caller))

    def restore(self, rng: random.Random, caller: RecordingClient) -> int:
        number = self._trashed(rng, caller)
        caller.ledger.restored.add((self._kept, number))
        status = caller.request("POST", f"{V1}/collections/{self._kept}/trash/{number}/restore").status
        if status == 201:
            caller.ledger.quarantined.discard((self._kept, number))
        return status

    def end(self, rng: random.Random, caller: RecordingClient) -> int:
        return caller.request("DELETE", f"{V1}/collections/{self._kept}/trash/{self._trashed(rng, caller)}").status

    def delete_collection(self, rng: random.Random, caller: RecordingClient) -> int:
        return caller.request("DELETE", f"{V1}/collections/{self._deleted}?versions=trash").status

    def restore_collection(self, rng: random.Random, caller: RecordingClient) -> int:
        return caller.request("POST", f"{V1}/deleted-collections/{self._deleted}/restore").status

    def _create(self, admin: RecordingClient, versions: int) -> str:
        guards = {"min_version_size": GOOD // 2, "on_suspicious": "quarantine"}
        fields = {"name": "dump.sql.gz", "limits": {"versions": versions}, "guards": guards}
        reply = admin.request("POST", f"{V1}/collections", json.dumps(fields), {"Content-Type": "application/json"})
        assert reply.status == 201, reply.body
        collection = str(reply.json["id"])
        admin.ledger.edited.add(collection)
        return collection

    def _push(self, rng: random.Random, caller: RecordingClient, collection: str, size: int) -> int:
        content, ledger = rng.randbytes(size), caller.ledger
        reply = caller.request("PUT", f"{V1}/collections/{collection}/versions", content)
        if reply.status == 201:
            if reply.json["quarantined"]:
                ledger.quarantined.add((collection, reply.json["number"]))
            ledger.acknowledge(collection, reply.json["number"], content)
            assert reply.json["sha256"] == digest_of(content)
        return reply.status

    def _edit(self, caller: RecordingClient, number: int, **change: Any) -> int:
        path = f"{V1}/collections/{self._kept}/versions/v{number}"
        return caller.request("PATCH", path, json.dumps(change), EDIT).status

    def _number(self, rng: random.Random, caller: RecordingClient) -> int:
        return self._one_of(rng, caller, "versions")

    def _trashed(self, rng: random.Random, caller: RecordingClient) -> int:
        return self._one_of(rng, caller, "trash")

    def _one_of(self, rng: random.Random, caller: RecordingClient, what: str) -> int:
        reply = caller.request("GET", f"{V1}/collections/{self._kept}/{what}")
        items = reply.json["items"] if reply.status == 200 else []
        return int(rng.choice(items)["number"]) if items else 1


ACTIONS: dict[Callable[[Protections, random.Random, RecordingClient], int], int] = {
    Protections.push: 8,
    Protections.push_suspicious: 4,
    Protections.pin: 4,
    Protections.note: 2,
    Protections.release: 3,
    Protections.delete: 3,
    Protections.restore: 3,
    Protections.end: 1,
    Protections.delete_collection: 2,
    Protections.restore_collection: 3,
}
