"""Real services for fault tests: clients that keep a ledger, and access to the state of a stopped service."""

import contextlib
import http.client
import json
import threading
from datetime import timedelta
from typing import Any

from frepo_core import assemble
from frepo_core.services.composition.container import Services
from frepo_core.services.upkeep.storage import SweepPlan, sweep
from support.reliability.invariants import EVERYTHING, Ledger, assert_invariants
from support.wire import Client

# The errors that a client gets if the service or the connection ends.
BROKEN = (OSError, http.client.HTTPException)


# By default a process checks two uploads at once. Further ones are pending: limits do not count them, and rotation
# passes over them until they are judged, so what it evicts is not always the oldest.
NOTHING_PUT_OFF = {"INTEGRITY_THREADS": "16", "INTEGRITY_INLINE_SECONDS": "60"}


class RecordingClient(Client):
    """A client that records its answers in a ledger."""

    def __init__(self, service, ledger: Ledger, token: str | None = None) -> None:
        super().__init__(service, token)
        self.ledger = ledger
        ledger.secrets.add(self.token)

    def with_own_token(self) -> "RecordingClient":
        """Return a client with another token: a token's uploads overtake each other if they end in another order."""
        made = self.request("POST", "/auth/token/generate", json.dumps({"roles": ["security.administrator"]}))
        return RecordingClient(self.service, self.ledger, made.json["tokenId"])

    def push_and_record(self, collection: str, content: bytes) -> int:
        """Push, return the status (0: the connection broke)."""
        try:
            reply = self.push(collection, content)
        except BROKEN:
            return 0
        if reply.status == 200:
            self.ledger.acknowledge(collection, reply.json["version"]["version"], content)
        return reply.status

    def upload_and_record(self, content: bytes, name: str = "a.bin") -> int:
        try:
            reply = self.upload(content, name)
        except BROKEN:
            return 0
        if reply.status in {200, 202}:
            self.ledger.acknowledge_file(reply.json["filename"], content)
        return reply.status

    def delete_and_record(self, collection: str, number: int) -> int:
        self.ledger.ask_to_delete(collection, number)
        try:
            return self.request("DELETE", f"/repository/collection/{collection}/backup/v{number}").status
        except BROKEN:
            return 0

    def edit_and_record(self, collection: str, **fields: Any) -> int:
        self.ledger.edited.add(collection)
        body = json.dumps({"collection": collection, **fields})
        return self.request("PUT", "/repository/collection", body).status


@contextlib.contextmanager
def services_of(service):
    """The services on the database and the storage of a real service that is stopped or idle."""
    services = assemble({"app.env": "dev", "fs.adapter": "local"}, service.environment)
    try:
        yield services
    finally:
        services.database.engine.dispose()


def assert_holds_after_sweep(service, ledger: Ledger) -> None:
    """Sweep a stopped service without grace; then check all invariants."""
    with services_of(service) as services:
        _check(services, service, ledger, swept=False)
        storage = services.backends.current
        options = {"storage": storage, "grace": timedelta(0), "most": EVERYTHING}
        sweep(services.database, services.backends, services.blobs, SweepPlan(**options))
        _check(services, service, ledger, swept=True)


def _check(services: Services, service, ledger: Ledger, *, swept: bool) -> None:
    assert_invariants(services, ledger, log=service.log.read_text(), swept=swept)


def in_threads(*functions) -> list[threading.Thread]:
    """Run all functions in threads."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    return threads
