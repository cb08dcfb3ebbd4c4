"""Fixtures: the entries of the trash, the events, and a storage of a limited size."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, select, update

from frepo_core.db.models import Event, TrashCheck, TrashEntry
from frepo_core.testing import MemoryStorage


@pytest.fixture
def entries(services):
    """Return number and reason of all entries, by number."""

    def entries():
        with services.database.reading() as session:
            query = select(TrashEntry.number, TrashEntry.reason).order_by(TrashEntry.number, TrashEntry.id)
            return [tuple(row) for row in session.execute(query)]

    return entries


@pytest.fixture
def age(services):
    """Make all entries of the trash older."""

    def age(**length):
        earlier = timedelta(**length)
        with services.database.reading() as session:
            rows = session.execute(select(TrashEntry.id, TrashEntry.evicted_at, TrashEntry.ends_at)).all()
        for row in rows:
            values = {"evicted_at": row.evicted_at - earlier, "ends_at": row.ends_at - earlier}
            services.database.execute(update(TrashEntry).where(TrashEntry.id == row.id).values(**values))

    return age


@pytest.fixture
def kept_checks(services):
    """Return the results of checks in the trash as dictionaries."""

    def kept_checks():
        with services.database.reading() as session:
            return [dict(row) for row in session.execute(select(TrashCheck.__table__)).mappings()]

    return kept_checks


@pytest.fixture
def keep_as_before(services, kept_checks):
    """Keep the results of checks in the trash as code from before migration 0026 does: within their entries."""

    def keep_as_before():
        found = kept_checks()
        for entry in {check["trash_id"] for check in found}:
            names = ("name", "outcome", "message", "details", "actor")
            checks = [
                {name: check[name] for name in names} | {"at": check["at"].isoformat()}
                for check in found
                if check["trash_id"] == entry
            ]
            services.database.execute(update(TrashEntry).where(TrashEntry.id == entry).values(checks=checks))
        services.database.execute(delete(TrashCheck))

    return keep_as_before


@pytest.fixture
def facts(services):
    """Return kind, version and data of the events of a kind."""

    def facts(kind):
        with services.database.reading() as session:
            rows = session.scalars(select(Event).where(Event.kind == kind).order_by(Event.id))
            return [(row.version_number, row.data) for row in rows]

    return facts


@pytest.fixture
def small_storage(storages):
    """Replace the storage by one in memory with room for so many bytes."""

    def small_storage(capacity):
        storages._built[storages.current] = MemoryStorage(capacity)
        return storages._built[storages.current]

    return small_storage
