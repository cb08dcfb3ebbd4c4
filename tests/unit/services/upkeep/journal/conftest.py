"""Fixtures: what the journal has written into the storage."""

import contextlib
import sqlite3

import pytest

from frepo_core.services.composition.assembly import assemble
from frepo_core.services.upkeep.journal.journal_files import JournalFile
from frepo_core.services.upkeep.journal.keys import JournalKey


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
