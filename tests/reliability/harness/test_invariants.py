"""The invariant checks detect violations: each invariant is violated here."""

import pytest
from sqlalchemy import delete, func, insert, select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Event, File, TrashEntry
from frepo_core.domain.naming import new_blob_key
from frepo_core.services.backups.versions.version_edits import VersionChange
from support.reliability.invariants import Ledger, assert_invariants, assert_unchanged


@pytest.fixture
def collection(world):
    collection = world.collection(3)
    for content in (b"one", b"two", b"three", b"four"):
        world.push(collection, content)
    return collection


@pytest.fixture
def breaks(world, collection):
    """Change the state without the service, check, undo the change; return the reported violations."""

    def breaks(*statements, mend=(), **options):
        def run(changes):
            world.services.database.write(lambda session: [session.execute(change) for change in changes])

        run(statements)
        with pytest.raises(AssertionError) as failure:
            assert_invariants(world.services, world.ledger, **options)
        run(mend)
        return str(failure.value).partition(":")[0]

    return breaks


def test_missing_bytes_break_i2(world, breaks):
    stat = next(world.backend.list())
    path = world.backend.path(stat.key)
    content = path.read_bytes()
    path.unlink()
    said = breaks()
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)

    assert "I2" == said


def test_bytes_that_changed_break_i2(world, breaks):
    path = world.backend.path(next(world.backend.list()).key)
    content = path.read_bytes()
    path.write_bytes(content[:-1] + b"?")
    said = breaks()
    path.write_bytes(content)

    assert "I2" == said


def test_bytes_without_a_row_break_i2_after_a_sweep(world, breaks, tmp_path):
    orphan = tmp_path / "storage" / new_blob_key("ab" * 32)
    orphan.parent.mkdir()
    orphan.write_bytes(b"x")

    assert "I2" == breaks(swept=True)


def test_an_entry_of_the_trash_that_is_gone_breaks_i11(world, breaks):
    with world.services.database.reading() as session:
        (entry,) = session.execute(select(TrashEntry.__table__)).mappings().all()

    assert "I11" == breaks(delete(TrashEntry), mend=[insert(TrashEntry).values(**entry)])


def test_an_entry_of_the_trash_without_its_event_breaks_i9(world, breaks):
    with world.services.database.reading() as session:
        (entry,) = session.execute(select(TrashEntry.__table__)).mappings().all()
    untold = insert(TrashEntry).values(**(dict(entry) | {"id": 99, "number": 7}))

    assert "I9" == breaks(untold, mend=[delete(TrashEntry).where(TrashEntry.id == 99)])


def test_a_wrong_counter_breaks_i3(breaks):
    change = update(Collection)

    assert "I3" == breaks(change.values(versions_count=2), mend=[change.values(versions_count=3)])
    assert "I3" == breaks(change.values(stored_size=1), mend=[change.values(stored_size=12)])


@pytest.mark.parametrize("name", ["pinned_count", "pinned_size", "quarantined_count", "quarantined_size"])
def test_a_wrong_counter_of_protected_versions_breaks_i3(breaks, name):
    change = update(Collection)

    assert "I3" == breaks(change.values({name: 1}), mend=[change.values({name: 0})])


def test_a_pinned_version_that_is_gone_breaks_i10(world, collection):
    world.pin(collection, 3)
    world.check()
    world.services.version_edits.edit(  # like a bug: no client requested it
        collection, world.services.versions.find(collection, "v3").id, VersionChange(pinned=False), by=world.admin
    )
    with pytest.raises(AssertionError, match="I10"):
        world.check()
    world.pin(collection, 3)
    world.check()


def test_a_quarantined_version_that_is_gone_breaks_i1(world, collection):
    world.edit(collection, guards={"min_version_size": 4, "action": "quarantine"})
    world.push(collection, b"bad")
    world.check()
    world.services.versions.delete(collection, "v5")
    with pytest.raises(AssertionError, match="I1: the quarantined version 5 was lost"):
        world.check()
    world.ledger.ask_to_delete(collection, 5)


def test_a_quarantined_version_whose_answer_was_lost_is_older_than_what_rotation_evicts(world, collection):
    world.edit(collection, guards={"min_version_size": 4, "action": "quarantine"})
    world.push(collection, b"bad")
    del world.ledger.versions[collection, 5]  # its answer was lost
    world.ledger.quarantined.discard((collection, 5))
    for number in range(4):
        world.push(collection, f"good {number}".encode())

    world.check()


def test_a_version_that_left_quarantine_for_newer_ones_may_be_gone_although_one_was_released(world, collection):
    world.edit(collection, guards={"min_version_size": 4, "action": "quarantine"})
    for content in (b"1", b"2", b"3"):
        world.push(collection, content)
    world.release(collection, 6)

    assert 5 not in world.numbers(collection)
    world.check()


def test_more_than_the_limit_breaks_i3(breaks):
    change = update(Collection)

    assert "I3" == breaks(change.values(max_backups_count=2), mend=[change.values(max_backups_count=3)])


def test_a_decreasing_counter_breaks_i4(breaks):
    change = update(Collection)

    assert "I4" == breaks(change.values(last_number=3), mend=[change.values(last_number=4)])


def test_a_number_that_is_given_twice_breaks_i4():
    ledger = Ledger()
    ledger.acknowledge("a", 1, b"x")
    with pytest.raises(AssertionError, match="I4"):
        ledger.acknowledge("a", 1, b"x")


def test_a_missing_acknowledged_version_breaks_i1(world, collection):
    world.services.versions.delete(collection, "v3")  # like a bug: no client requested it
    with pytest.raises(AssertionError, match="I1"):
        world.check()
    world.ledger.ask_to_delete(collection, 3)


def test_rotating_one_version_too_many_breaks_i1(world, collection):
    world.services.versions.delete(collection, "v2")
    with pytest.raises(AssertionError, match="I1"):
        world.check()
    world.ledger.ask_to_delete(collection, 2)


def test_a_collection_that_lost_all_breaks_i5(world, services):
    collection = world.collection(1)
    world.push(collection, b"only")
    world.ledger.versions.clear()
    services.versions.delete(collection, "v1")
    with pytest.raises(AssertionError, match="I5"):
        world.check()
    world.ledger.ask_to_delete(collection, 1)


def test_a_missing_file_breaks_i1(world, services):
    name = world.upload(b"kept")
    services.files.delete(name, "", by=world.admin)
    with pytest.raises(AssertionError, match="I1"):
        world.check()
    world.ledger.ask_to_remove(name)


def test_a_refusal_that_changes_something_breaks_i6(world, collection):
    before = world.snapshot()
    world.push(collection, b"five")
    with pytest.raises(AssertionError, match="I6"):
        assert_unchanged(before, world.snapshot())


@pytest.mark.parametrize("where", ["storage/.partial-0", "temporary/left"])
def test_a_temporary_file_breaks_i7(world, breaks, tmp_path, where):
    (tmp_path / where).write_bytes(b"x")
    said = breaks(swept=True)
    (tmp_path / where).unlink()

    assert "I7" == said


def test_a_secret_in_a_log_breaks_i8(world):
    with pytest.raises(AssertionError, match="I8"):
        world.check(log=f"token {next(iter(world.ledger.secrets))}")


def test_an_unused_row_breaks_i2_after_a_sweep(world, breaks):
    name = world.upload(b"unused")
    world.ledger.ask_to_remove(name)
    told = delete(Event).where(Event.kind == "file.added")

    assert "I2" == breaks(delete(File).where(File.stored_name == name), told, swept=True)


def test_a_fact_without_its_event_breaks_i9(services, world, breaks):
    with services.database.reading() as session:
        (added,) = session.scalars(select(Event).where(Event.kind == "version.added", Event.version_number == 4))
        columns = {column.name: getattr(added, column.name) for column in Event.__table__.c}

    assert "I9" == breaks(delete(Event).where(Event.id == added.id), mend=[insert(Event).values(columns)])


@pytest.mark.parametrize("kind", ["collection.deleted", "collection.full", "version.evicted", "token.expired"])
def test_an_event_without_its_fact_breaks_i9(world, collection, breaks, kind):
    about = {"collection_id": collection, "version_number": 4, "token": world.admin.fingerprint}
    data = {"actor": "system:nobody", "at": utc_now(), "data": {}}
    untrue = insert(Event).values(kind=kind, **about, **data)

    assert "I9" == breaks(untrue, mend=[delete(Event).where(Event.actor == "system:nobody")])


def test_an_event_that_is_written_twice_breaks_i9(services, collection, breaks):
    columns = [column for column in Event.__table__.c if column.name != "id"]
    first = select(*columns).where(Event.kind == "version.added", Event.version_number == 4)
    again = insert(Event).from_select([column.name for column in columns], first)
    with services.database.reading() as session:
        last = session.scalar(select(func.max(Event.id)))

    assert "I9" == breaks(again, mend=[delete(Event).where(Event.id > last)])
