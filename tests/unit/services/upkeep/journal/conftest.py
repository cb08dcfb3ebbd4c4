"""Fixtures: what the journal has written into the storage."""

import pytest

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
