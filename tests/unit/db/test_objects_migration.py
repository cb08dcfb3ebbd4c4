"""Contents that are encoded, copied, replaced, locked and in the trash, in a database from before contents and objects.

The bytes are there, too: after the upgrade, all that was stored can be read, and nothing is deleted that is needed.
"""

import hashlib
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import MetaData, Table, insert, literal_column, select, update

from frepo_core import assemble
from frepo_core.db import make_engine, migrations, utc_now
from frepo_core.db.models import Content, File, StoredObject, TrashEntry, Version
from frepo_core.domain.naming import new_blob_key
from frepo_core.features.compact.encoder.encoder import Base, encode
from frepo_core.features.storage_check.storage_check import check_storages
from frepo_core.services.upkeep.reconcile.reconciliation import is_reconciled
from support.encodings.nights import nights
from support.reliability.upgrades import schema_differences, upgrade_to

pytestmark = [pytest.mark.databases, pytest.mark.costly]

NOW = utc_now()
OLDER, NEWER = nights(2, 500)
TWICE, LOCKED, ORPHAN, TRASHED = (
    b"in two storages",
    b"locked in the trash",
    b"a copy whose content was deleted",
    b"trash",
)
COLLECTION = "10000000-0000-0000-0000-000000000001"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def ini(ini, tmp_path):
    more = {"storages": "second", "storage.second.adapter": "local", "mirror": "second", "mirror.rate": "0"}
    return ini | more | {"storage.second.directory": str(tmp_path / "second")}


@pytest.fixture
def engine(database_url):
    engine = make_engine(database_url)
    yield engine
    engine.dispose()


class Old:
    """The database before the upgrade, and the storages."""

    def __init__(self, connection, backends):
        self._connection, self._backends = connection, backends
        names = ("blob", "blob_copy", "replaced_object", "file", "version", "trash", "collection")
        self._tables = {name: Table(name, MetaData(), autoload_with=connection) for name in names}

    def insert(self, table, **values):
        done = self._connection.execute(insert(self._tables[table]).values(**values))
        return done.inserted_primary_key[0]

    def store(self, storage, content, data=None):
        """Store bytes under a new key for a content; return the key."""
        key, data = new_blob_key(sha256(content)), content if data is None else data
        self._backends.get(storage).store(key, BytesIO(data), len(data))
        return key

    def blob(self, content, storage="local", **more):
        data = more.pop("data", None)
        facts = {"digest": sha256(content), "size": len(content), "storage": storage, "mime": "text/plain"}
        return self.insert(
            "blob", **facts, key=self.store(storage, content, data), created_at=NOW - timedelta(days=9), **more
        )

    def copy(self, content, blob_id, state="present", *, has_bytes=True, **more):
        data = more.pop("data", None)
        facts = {"digest": sha256(content), "size": len(content), "storage": "second", "state": state}
        key = self.store("second", content, data) if has_bytes else None
        times = {"wanted_at": NOW - timedelta(days=8), "next_try": NOW, "stored_at": NOW - timedelta(days=8)}
        self.insert("blob_copy", blob_id=blob_id, key=key, **facts, **times | more)

    def file(self, name, blob_id, kind="plain"):
        facts = {"requested_name": name, "public": True, "created_at": NOW, "kind": kind}
        return self.insert("file", stored_name=name, blob_id=blob_id, **facts)


def encoded():
    target = BytesIO()
    base = Base(content=BytesIO(NEWER), digest=sha256(NEWER), size=len(NEWER))
    head = encode(BytesIO(OLDER), target, digest=sha256(OLDER), size=len(OLDER), base=base, segment_size=64 << 10)
    data = target.getvalue()
    return data, {"encoding": head.codec, "stored_size": len(data), "stored_digest": hashlib.sha256(data).hexdigest()}


def fill(old):
    limits = {"max_backups_count": 9, "max_one_version_size": 10**9, "max_collection_size": 10**9}
    about = {"strategy": "delete_oldest_when_adding_new", "description": "", "filename": "a.sql", "created_at": NOW}
    old.insert("collection", id=COLLECTION, **limits, **about, last_number=4, versions_count=2, stored_size=10)
    newer = old.blob(NEWER)
    data, form = encoded()
    older = old.blob(OLDER, data=data, **form, base_id=newer)
    old.copy(NEWER, newer)
    old.copy(OLDER, older, data=data, **form, base_digest=sha256(NEWER))
    for kept, encoding in ((OLDER, None), (OLDER, data)):  # what compact has replaced: raw, and by another encoding
        size = len(kept if encoding is None else encoding)
        key = old.store("local", OLDER, encoding)
        old.insert("replaced_object", storage="local", key=key, size=size, delete_after=NOW + timedelta(hours=40))
    for number, blob_id in ((1, older), (2, newer)):
        file = old.file(f"v{number}", blob_id, "version")
        until = NOW + timedelta(days=30) if number == 1 else None
        facts = {"collection_id": COLLECTION, "number": number, "created_at": NOW, "locked_until": until}
        old.insert("version", id=f"20000000-0000-0000-0000-00000000000{number}", file_id=file, **facts)
    first, second = old.blob(TWICE), old.blob(TWICE, "second")
    old.copy(TWICE, first)
    old.file("first", first)
    old.file("second", second)
    for number, content in ((3, LOCKED), (4, TRASHED)):
        trash(old, number, content, old.blob(content))
    old.copy(ORPHAN, None, "leaving", delete_after=NOW + timedelta(days=3))
    old.copy(LOCKED, old_id(old, LOCKED), "wanted", has_bytes=False)
    old.copy(TRASHED, old_id(old, TRASHED), "damaged")
    old.insert(
        "blob_copy",
        digest="d" * 64,
        size=3,
        storage="second",
        state="gone",
        wanted_at=NOW,
        next_try=NOW,
    )


def old_id(old, content):
    blob = old._tables["blob"]
    return old._connection.scalar(select(blob.c.id).where(blob.c.digest == sha256(content)))


def trash(old, number, content, blob_id):
    facts = {
        "collection_id": COLLECTION,
        "incarnation": COLLECTION,
        "number": number,
        "name": f"v{number}",
        "checks": literal_column("'[]'"),
    }
    why = {"reason": "request", "evicted_at": NOW, "evicted_by": "somebody", "ends_at": NOW + timedelta(days=9)}
    until = NOW + timedelta(days=30) if content == LOCKED else None
    version = f"20000000-0000-0000-0000-00000000000{number}"
    about = {"size": len(content), "digest": sha256(content), "version_id": version, "created_at": NOW}
    old.insert("trash", blob_id=blob_id, **facts, **why, **about, locked_until=until)


@pytest.fixture
def services(engine, ini, plugins):
    """The services over a database that was filled before and upgraded then."""
    upgrade_to(engine, "0044")
    services = assemble(ini, {}, plugins)
    with engine.begin() as connection:
        fill(Old(connection, services.backends))
    migrations.upgrade(engine)
    yield services
    services.database.engine.dispose()


@pytest.fixture
def rows(services):
    """Return the states of the objects in a storage by their contents."""

    def rows(storage):
        with services.database.reading() as session:
            objects = session.scalars(select(StoredObject).where(StoredObject.storage == storage))
            return sorted((row.digest[:6], row.state, row.encoding, row.slot) for row in objects)

    return rows


def read_all(services):
    """Return what all files and entries of the trash have."""
    with services.database.reading() as session:
        names = session.scalars(select(File.stored_name).order_by(File.stored_name)).all()
    found = {}
    for name in names:
        with services.stored_content.open(services.files.find(name).blob) as content:
            found[name] = content.read()
    return found


EXPECTED = {"first": TWICE, "second": TWICE, "v1": OLDER, "v2": NEWER}


def test_all_can_be_read_from_each_storage(services, engine, tmp_path):
    assert EXPECTED == read_all(services)
    assert [] == schema_differences(engine)

    (tmp_path / "storage").rename(tmp_path / "gone")  # the first one: v1 and v2 are in the second one, too
    assert EXPECTED == read_all(services)


def test_each_row_becomes_an_object_with_its_state(services, rows):
    def named(content, *facts):
        return (sha256(content)[:6], *facts)

    local = [
        *(named(OLDER, "found", "unknown", None), named(OLDER, "present", "delta", 1)),
        *(named(OLDER, "superseded", "raw", None), named(NEWER, "present", "raw", 1)),
        *(named(content, "present", "raw", 1) for content in (TWICE, LOCKED, TRASHED)),
    ]
    second = [
        *(named(OLDER, "present", "delta", 1), named(NEWER, "present", "raw", 1)),
        *(named(TWICE, "present", "raw", 1), named(TWICE, "superseded", "raw", None)),
        *(
            named(ORPHAN, "leaving", "raw", None),
            named(LOCKED, "wanted", "raw", 1),
            named(TRASHED, "damaged", "raw", 1),
        ),
        ("dddddd", "gone", "raw", None),
    ]
    assert sorted(local, key=str) == sorted(rows("local"), key=str)
    assert sorted(second, key=str) == sorted(rows("second"), key=str)
    with services.database.reading() as session:
        assert 1 == len(session.scalars(select(Content).where(Content.digest == sha256(TWICE))).all())
        assert [True, False] == [
            row.locked_until is not None for row in session.scalars(select(Version).order_by(Version.number))
        ]
        assert 1 == len(session.scalars(select(TrashEntry.id).where(TrashEntry.locked_until.is_not(None))).all())


def test_nothing_is_deleted_before_the_storages_were_compared_nor_what_is_needed_later(services, tmp_path):
    def keys():
        return {path for name in ("storage", "second") for path in (tmp_path / name).rglob("*") if path.is_file()}

    before = keys()
    services.database.execute(update(StoredObject).values(delete_after=NOW - timedelta(hours=1)))
    for storage in ("local", "second"):
        assert 0 == services.blobs.gate.delete_due(storage).objects
    assert before <= keys()

    for _ in range(2):  # each storage gets its mark first
        services.jobs.run("sweep", cause="test")
    assert is_reconciled(services.database, "local")
    assert is_reconciled(services.database, "second")
    services.database.execute(
        update(StoredObject).where(StoredObject.delete_after.is_not(None)).values(delete_after=NOW - timedelta(hours=1))
    )
    for storage in ("local", "second"):
        services.blobs.gate.delete_due(storage)
    services.jobs.run("mirror", cause="test")

    assert before - keys()  # what was replaced is gone
    assert EXPECTED == read_all(services)
    worth = check_storages(services, read_within=timedelta(days=30))
    assert 0 == worth.lost.contents
    assert {"local": 0, "second": 0} == {one.storage: one.lacks for one in worth.storages}
