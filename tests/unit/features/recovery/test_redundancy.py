"""No redundancy goes for a time: what was stored in two places can be read from both, and no copy is made twice."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.naming import parse_digest_in_key
from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.upkeep.journal.keys import JournalKey
from frepo_core.services.upkeep.storage import OwnerMark
from frepo_core.testing import FaultyStorage
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@pytest.fixture
def ini(ini, tmp_path):
    more = {"storages": "second archive", "mirror": "second", "mirror.rate": "0", "mirror.delete_delay": "8d"}
    for name in ("second", "archive"):
        more |= {f"storage.{name}.adapter": "local", f"storage.{name}.directory": str(tmp_path / name)}
    return ini | more


@pytest.fixture
def contents():
    return list(nights(3, 500))


@pytest.fixture
def collection(make_collection, push, contents, run):
    """A collection whose versions have second copies."""
    collection = make_collection(9)
    for content in contents:
        push(collection, content)
    run("mirror")
    return collection


def read_all(services, collection):
    found = []
    for version in services.versions.list(collection):
        with services.stored_content.open(version.file.blob) as content:
            found.append(b"".join(iter(lambda content=content: content.read(1 << 16), b"")))
    return sorted(found)


def lose_contents(services, storage):
    backend = services.backends.get(storage)
    for stat in list(backend.list()):
        if parse_digest_in_key(stat.key) and not OwnerMark.parse(stat.key):
            backend.delete(stat.key)


def rows(services, storage):
    with services.database.reading() as session:
        of_storage = select(StoredObject).where(StoredObject.storage == storage)
        return session.scalars(of_storage.order_by(StoredObject.id)).all()


def move(services, collection, by):
    services.collections.edit(collection, CollectionChange(limits={}, storage="archive"), by=by)
    services.feature(MoveServices).collections.request(collection)
    services.feature(MoveServices).collections.run()


def test_after_a_promotion_all_that_the_former_storage_has_is_a_fallback(services, collection, contents):
    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("second")
    )
    lose_contents(services, "second")

    assert sorted(contents) == read_all(services, collection)


def test_after_a_move_the_source_is_a_fallback(services, collection, contents, sender):
    lose_contents(services, "second")
    move(services, collection, sender)
    lose_contents(services, "archive")

    assert sorted(contents) == read_all(services, collection)


def test_a_move_makes_no_second_copy_again_and_lets_none_leave(services, collection, contents, sender, run):
    faulty = services.backends._built["second"] = FaultyStorage(services.backends.get("second"))

    move(services, collection, sender)
    run("mirror")
    summary = run("mirror", utc_now() + timedelta(days=9))

    assert 0 == faulty.calls["store"]
    assert (0, 0) == (summary["leaving"], summary["deleted"])
    assert 3 * [("present", 1)] == [(row.state, row.slot) for row in rows(services, "second")]
    assert sorted(contents) == read_all(services, collection)


def test_a_recovery_makes_no_copy_again_that_is_there(collection, contents, run, recovered):
    run("catalogue")

    services, report = recovered()
    faulty = services.backends._built["second"] = FaultyStorage(services.backends.get("second"))
    services.feature(SecondCopyServices).mirror.compare(keep_going=lambda: None)
    services.feature(SecondCopyServices).mirror.run("second", keep_going=lambda: None, progress=lambda text: None)

    assert 0 == faulty.calls["store"]
    assert 3 * ["present"] == [row.state for row in rows(services, "second")]
    assert {"local", "second"} <= set(report.adopted)


def test_after_a_recovery_without_copies_all_are_said_to_lack_them(services, collection, run, recovered):
    run("catalogue")
    lose_contents(services, "second")

    recovered_services, report = recovered()
    [figures] = [
        one for one in recovered_services.feature(SecondCopyServices).reports.read() if one.storage == "second"
    ]

    assert (3, 3) == (figures.behind, figures.versions)
    assert "No content waits" not in figures.describe(utc_now())
    assert "second" in report.adopted
    recovered_services.feature(RecoveryServices).journal.write_catalogue()
    assert any(JournalKey.parse(stat.key) for stat in recovered_services.backends.get("second").list())


def test_the_base_of_a_first_copy_stays_in_a_storage_of_second_ones(services, collection, contents, sender, run):
    """A promotion, or a collection that is stored there, makes first copies of objects in it."""
    blobs = StoredBlobs(services)
    blobs.encode(contents[0], contents[1])
    run("mirror")
    digests = [blobs.row(content).digest for content in contents]
    above = next(row for row in rows(services, "second") if row.digest == digests[0] and row.slot)
    assert digests[1] == above.base_digest
    is_above = StoredObject.id == above.id
    services.database.execute(update(StoredObject).where(is_above).values(role="first"))
    base = next(row for row in rows(services, "second") if row.digest == digests[1])
    leaving = {"state": "leaving", "slot": None, "delete_after": utc_now() - timedelta(days=1)}
    services.database.execute(update(StoredObject).where(StoredObject.id == base.id).values(**leaving))

    services.feature(SecondCopyServices).mirror.confirm("second", 9)
    services.feature(SecondCopyServices).mirror.run("second", keep_going=lambda: None, progress=lambda text: None)

    assert base.key in {stat.key for stat in services.backends.get("second").list()}
