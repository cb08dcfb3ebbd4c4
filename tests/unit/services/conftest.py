"""Fixtures: the services on a real database and a real directory, faults in both, a clock and leases."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import Any

import pytest
from sqlalchemy import event, select

from frepo_core.db.models import StoredObject
from frepo_core.domain.identity import Identity
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.plugins import StorageBackend
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.add_version import AddedVersion
from frepo_core.services.base.lease import Lease, LeaseTerms
from frepo_core.services.composition.container import Services
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.storages.backends import Backends
from frepo_core.services.files.files import AddedFile, NewFile
from frepo_core.testing import FaultyStorage, MemoryStorage
from frepo_core.testing.faulty import Fault
from support.reliability.invariants import snapshot


class Clock:
    """The database's clock and the clock of a process that cannot be set, both moved by the test."""

    def __init__(self) -> None:
        self.time = datetime(2026, 3, 1, 12, tzinfo=UTC)
        self.seconds = 1000.0

    def now(self) -> datetime:
        return self.time

    def monotonic(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds
        self.time += timedelta(seconds=seconds)

    def jump(self, **difference: float) -> None:
        """Set the database's clock; no time has passed."""
        self.time += timedelta(**difference)


@pytest.fixture
def clock(services, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(services.database, "now", clock.now)
    return clock


@pytest.fixture
def make_lease(services, clock):
    """Make a lease as a process of its own sees it."""

    def make(holder, name="worker"):
        return Lease(services.database, name, holder=holder, terms=LeaseTerms(), monotonic=clock.monotonic)

    return make


@pytest.fixture
def storages(services: Services) -> Backends:
    return services.stored_content._backends


@pytest.fixture
def storage(storages: Backends) -> StorageBackend:
    """The real backend, without the faults that a test wraps around it."""
    return storages.get(storages.current)


@pytest.fixture
def wrap(storages: Backends) -> Callable[..., FaultyStorage]:
    """Wrap faults around the backend: `wrap(Fail("store"))`."""

    def wrap(*faults: Fault) -> FaultyStorage:
        faulty = FaultyStorage(storages.get(storages.current), *faults)
        storages._built[storages.current] = faulty
        return faulty

    return wrap


@pytest.fixture
def other_storage(storages: Backends) -> MemoryStorage:
    """A second backend, `other`, as the source of a migration."""
    other = MemoryStorage()
    storages._built["other"] = other
    return other


@pytest.fixture
def identify(services: Services, make_token: Callable[..., str]) -> Callable[..., Identity]:
    def identify(*roles: Role, **more: Any) -> Identity:
        return services.tokens.identify(make_token(*roles, **more), address="127.0.0.1", user_agent="")

    return identify


@pytest.fixture
def sender(identify: Callable[..., Identity]) -> Identity:
    return identify(Role.ADMINISTRATOR)


@pytest.fixture
def make_collection(services: Services, sender: Identity) -> Callable[..., str]:
    """Make a collection of at most `count` versions; return its id."""

    def make(count: int = 3, **more: Any) -> str:
        limits = {COUNT: count} | more.pop("limits", {})
        change = CollectionChange(limits=limits, filename="dump.sql", **more)
        return services.collections.create(change, by=sender).id

    return make


@pytest.fixture
def push(services: Services, sender: Identity) -> Callable[..., AddedVersion]:
    """Push a version as the web layer does: read the collection first."""

    def push(collection: str, content: bytes | Any, by: Identity | None = None, **more: Any) -> AddedVersion:
        facts = services.collections.get(collection)
        stream = BytesIO(content) if isinstance(content, bytes) else content
        return services.add_version.add(facts, Incoming(stream=stream), by=by or sender, **more)

    return push


@pytest.fixture
def upload(services: Services, sender: Identity) -> Callable[..., AddedFile]:
    def upload(content: bytes | Any, name: str = "a.txt", by: Identity | None = None, **more: Any) -> AddedFile:
        stream = BytesIO(content) if isinstance(content, bytes) else content
        return services.files.add(NewFile(name=name, **more), Incoming(stream=stream), by=by or sender)

    return upload


@pytest.fixture
def numbers(services: Services) -> Callable[[str], list[int]]:
    return lambda collection: [version.number for version in services.versions.list(collection)]


@pytest.fixture
def keys(storage: StorageBackend) -> Callable[[], list[str]]:
    """The keys in the backend."""
    return lambda: sorted(blob.key for blob in storage.list())


@pytest.fixture
def blob_keys(services: Services) -> Callable[[], list[str]]:
    """The keys that rows refer to."""

    def blob_keys() -> list[str]:
        with services.database.reading() as session:
            return sorted(session.scalars(select(StoredObject.key).where(StoredObject.slot == 1)))

    return blob_keys


@pytest.fixture
def state(services: Services) -> Callable[[], dict[str, Any]]:
    """All rows of all tables, and all keys. What a refused or failed request records about itself is left out."""
    return lambda: snapshot(services)


@pytest.fixture
def at_commit(services: Services) -> Iterator[Callable[..., None]]:
    """Call a function with the connection right before the n-th COMMIT of a writer from now on (0: each)."""
    listeners: list[Callable[..., None]] = []

    def at_commit(do: Callable[[Any], None], nth: int = 1) -> None:
        seen = 0

        def listener(connection: Any) -> None:
            nonlocal seen
            seen += 1
            if nth in {0, seen}:
                do(connection)

        event.listen(services.database.engine, "commit", listener)
        listeners.append(listener)

    yield at_commit
    for listener in listeners:
        event.remove(services.database.engine, "commit", listener)


@pytest.fixture
def at_statement(services: Services) -> Iterator[Callable[..., None]]:
    """Call a function right before the first statement with this start, e.g. `INSERT INTO version`, without quotes."""
    listeners: list[Callable[..., None]] = []

    def at_statement(start: str, do: Callable[[], None], nth: int = 1) -> None:
        seen = 0

        def listener(connection: Any, cursor: Any, statement: str, *_: Any) -> None:
            nonlocal seen
            if statement.replace("`", "").startswith(start):  # MariaDB quotes names that it reserves
                seen += 1
                if nth in {0, seen}:
                    do()

        event.listen(services.database.engine, "before_cursor_execute", listener)
        listeners.append(listener)

    yield at_statement
    for listener in listeners:
        event.remove(services.database.engine, "before_cursor_execute", listener)


@pytest.fixture
def at_once() -> Callable[..., list[Any]]:
    """Call a function with each argument concurrently; return results and errors in order."""

    def at_once(function: Callable[[Any], Any], arguments: Any) -> list[Any]:
        arguments = list(arguments)
        barrier = threading.Barrier(len(arguments))

        def call(argument: Any) -> Any:
            barrier.wait(60)
            try:
                return function(argument)
            except Exception as error:  # noqa: BLE001  # it is the result
                return error

        with ThreadPoolExecutor(len(arguments)) as pool:
            return list(pool.map(call, arguments))

    return at_once
