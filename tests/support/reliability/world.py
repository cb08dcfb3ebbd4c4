"""A client of the services in this process that records its answers in a ledger."""

import contextlib
import shutil
from collections.abc import Iterable, Iterator
from datetime import timedelta
from io import BytesIO
from typing import Any

from sqlalchemy import text

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.db.models import Base
from frepo_core.domain.identity import Identity
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.plugins import StorageBackend
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.add_version import UploadOptions
from frepo_core.services.backups.versions.version_edits import VersionChange
from frepo_core.services.composition.container import Services
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.storage import SweepPlan, SweepReport, VerifyReport, sweep, verify
from frepo_core.testing import FaultyStorage
from frepo_core.testing.faulty import Fault
from support.databases import _empty
from support.reliability.invariants import EVERYTHING, Ledger, assert_invariants, snapshot


class World:
    """Each method is one request; its answer is recorded in the ledger unless it raises."""

    def __init__(self, services: Services, ledger: Ledger | None = None) -> None:
        self.services = services
        self.ledger = ledger or Ledger()
        self.spoilt: set[str] = set()  # digests of contents that a test damaged, not yet repaired
        settings = services.settings
        for secret in (settings.app_secret, settings.enc_token_phrase):
            self.ledger.secrets.add(secret.get_secret_value())
        self.admin = self.identify(self.token(Role.ADMINISTRATOR))

    def token(self, *roles: Role, **more: Any) -> str:
        """Make a token; return its id, which is a secret."""
        made = self.services.tokens.generate(NewToken(roles=roles, **({"expires": "never"} | more))).id
        self.ledger.secrets.add(made)
        return made

    def identify(self, token: str) -> Identity:
        return self.services.tokens.identify(token, address="127.0.0.1", user_agent="")

    def collection(self, count: int = 3, **more: Any) -> str:
        limits = {COUNT: count} | more.pop("limits", {})
        change = CollectionChange(limits=limits, filename="dump.sql", **more)
        return self.services.collections.create(change, by=self.admin).id

    def edit(self, collection: str, **change: Any) -> None:
        self.ledger.edited.add(collection)
        self.services.collections.edit(collection, CollectionChange(**({"limits": {}} | change)), by=self.admin)

    def push(
        self, collection: str, content: bytes, *, stream: Any = None, by: Identity | None = None, **more: Any
    ) -> int:
        """Add a version; return its number."""
        facts = self.services.collections.get(collection)
        incoming = Incoming(stream=stream or BytesIO(content))
        options = UploadOptions(**more)
        added: Any = self.services.add_version.add(facts, incoming, by=by or self.admin, options=options)
        self.ledger.acknowledge(collection, added.version.number, content)
        if added.version.quarantined_at:
            self.ledger.quarantined.add((collection, added.version.number))
        return int(added.version.number)

    def upload(self, content: bytes, name: str = "a.txt", *, by: Identity | None = None) -> str:
        """Add a file; return its stored name."""
        added: Any = self.services.files.add(NewFile(name=name), Incoming(stream=BytesIO(content)), by=by or self.admin)
        self.ledger.acknowledge_file(added.file.stored_name, content)
        return str(added.file.stored_name)

    def delete(self, collection: str, number: int) -> None:
        self.ledger.ask_to_delete(collection, number)
        self.services.versions.delete(collection, f"v{number}")

    def pin(self, collection: str, number: int, *, pinned: bool = True) -> None:
        """Pin a version, or unpin it."""
        if not pinned:
            self.ledger.pinned.discard((collection, number))
            self.ledger.released.add((collection, number))
        self._edit_version(collection, number, VersionChange(pinned=pinned))
        if pinned:
            self.ledger.pinned.add((collection, number))

    def note(self, collection: str, number: int, text: str) -> None:
        self._edit_version(collection, number, VersionChange(note=text))

    def release(self, collection: str, number: int) -> None:
        """Release a version from quarantine. It may be older than versions that are evicted for it."""
        self._edit_version(collection, number, VersionChange(releases=True))
        self.ledger.quarantined.discard((collection, number))
        self.ledger.released.add((collection, number))

    def _edit_version(self, collection: str, number: int, change: VersionChange) -> None:
        version = self.services.versions.find(collection, f"v{number}")
        self.services.version_edits.edit(collection, version.id, change, by=self.admin)

    def restore(self, collection: str, number: int) -> None:
        self.services.trash.restore(collection, number, by=self.admin)
        self.ledger.deleted.discard((collection, number))
        self.ledger.restored.add((collection, number))

    def remove(self, name: str) -> None:
        self.ledger.ask_to_remove(name)
        self.services.files.delete(name, "", by=self.admin)

    def numbers(self, collection: str) -> list[int]:
        return [version.number for version in self.services.versions.list(collection)]

    @property
    def backend(self) -> StorageBackend:
        return self.services.backends.get(self.services.backends.current)

    def wrap(self, *faults: Fault) -> FaultyStorage:
        """Wrap faults around the backend, instead of the previous ones."""
        inner = self.backend.inner if isinstance(self.backend, FaultyStorage) else self.backend
        faulty = FaultyStorage(inner, *faults)
        self.replace(faulty)
        return faulty

    def unwrap(self) -> None:
        self.wrap()

    def replace(self, backend: StorageBackend) -> None:
        self.services.backends._built[self.services.backends.current] = backend

    def sweep(self, grace: timedelta = timedelta(0)) -> SweepReport:
        services = self.services
        return sweep(
            services.database,
            services.backends,
            services.blobs,
            SweepPlan(storage=services.backends.current, grace=grace, most=EVERYTHING),
        )

    def verify(self) -> VerifyReport:
        return verify(self.services.database, self.services.backends)

    def snapshot(self) -> dict[str, Any]:
        return snapshot(self.services)

    def check(self, *, log: str = "", swept: bool = False, rotten: Iterable[str] = ()) -> None:
        assert_invariants(self.services, self.ledger, log=log, swept=swept, rotten={*rotten, *self.spoilt})


@contextlib.contextmanager
def services_over(ini: dict[str, str], plugins: PluginRegistry) -> Iterator[Services]:
    """Open services over the database that the settings name."""
    services = assemble(ini, {}, plugins)
    migrations.upgrade(services.database.engine)
    yield services
    services.database.engine.dispose()


def clear(world: World) -> None:
    """Delete all rows and all bytes."""
    engine = world.services.database.engine
    if engine.dialect.name == "postgresql":
        _empty(engine)
    else:
        with engine.begin() as connection:
            connection.execute(text("PRAGMA defer_foreign_keys = ON"))
            for table in reversed(Base.metadata.sorted_tables):
                connection.execute(table.delete())
    directory = (
        world.backend.path(next(iter(world.backend.list())).key).parents[1] if list(world.backend.list()) else ""
    )
    if directory:
        shutil.rmtree(directory)
        directory.mkdir()
