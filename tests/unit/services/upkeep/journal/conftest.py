"""Fixtures: what the journal has written into the storage."""

import contextlib
import shutil
import sqlite3
from dataclasses import dataclass

import pytest

from frepo_core.db import migrations
from frepo_core.features.assembly import assemble
from frepo_core.features.recovery.journal_file import JournalFile
from frepo_core.features.recovery.services import RecoveryServices
from frepo_core.services.upkeep.journal.keys import JournalKey
from frepo_core.services.upkeep.storage import verify


@pytest.fixture
def keys(storage):
    """Return the keys of the journal and of the catalogues in the storage, in the order in which they were written."""

    def keys():
        found = [key for stat in storage.list() if (key := JournalKey.parse(stat.key))]
        return [key.text for key in sorted(found, key=lambda key: (key.place, key.made_at is None))]

    return keys


@pytest.fixture
def read(storage):
    """Return the objects of a part or a catalogue: their states by kind and key."""

    def read(key):
        return {(name, *place): values for name, place, values in JournalFile(storage.path(key)).objects()}

    return read


@pytest.fixture
def begun(services, run, sender):
    """A storage with a catalogue, which a journal can follow."""
    run("catalogue")
    services.journal.write_changes()


@pytest.fixture
def back_up(services, ini, plugins, tmp_path):
    """Copy the database; what it returns opens the services over the copy, as after a restore."""
    with contextlib.ExitStack() as stack:

        def back_up():
            with (
                contextlib.closing(sqlite3.connect(tmp_path / "frepo.db")) as source,
                contextlib.closing(sqlite3.connect(tmp_path / "restored.db")) as target,
            ):
                source.backup(target)

            def restore():
                restored = assemble(ini | {"database.url": f"sqlite:///{tmp_path}/restored.db"}, {}, plugins)
                stack.callback(restored.database.engine.dispose)
                return restored

            return restore

        yield back_up


class Ordered:
    """A storage that lists its blobs in an order."""

    def __init__(self, backend, order):
        self.backend = backend
        self.order = order

    def list(self):
        return sorted(self.backend.list(), key=self.order)

    def __getattr__(self, name):
        return getattr(self.backend, name)


@dataclass
class Recovered:
    services: object
    source: object
    report: object
    notes: list

    def read(self, collection):
        """Return the contents of the versions by their numbers."""
        found = {}
        for version in self.services.versions.list(collection):
            with self.services.stored_content.open(version.file.blob) as content:
                found[version.number] = b"".join(iter(lambda content=content: content.read(1 << 16), b""))
        return found

    def damaged(self):
        """Read all first copies; return those that are damaged."""
        return verify(self.services.database, self.services.backends).damaged


@pytest.fixture
def recover(ini, plugins, migrated, tmp_path):
    """Recover an empty database from a storage."""
    with contextlib.ExitStack() as stack:

        def recover(storage="local", order=None, *, unverified=False, **settings):
            number = len(list(tmp_path.glob("new-*.db")))
            path = shutil.copy(migrated, tmp_path / f"new-{number}.db")  # to migrate an empty one takes seconds
            settings = settings | {"database.url": f"sqlite:///{path}"}
            services = assemble(ini | settings, {}, plugins)
            stack.callback(services.database.engine.dispose)
            migrations.upgrade(services.database.engine)
            if order:
                services.backends._built[storage] = Ordered(services.backends.get(storage), order)
            notes = []
            with services.feature(RecoveryServices).recovery(storage, notes.append, unverified=unverified) as recovery:
                source = recovery.find()
                report = recovery.run(source, with_tokens=True)
            return Recovered(services, source, report, notes)

        yield recover
