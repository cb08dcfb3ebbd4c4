"""Collections choose where their second copies are: in another storage, where the service has them, or nowhere."""

import time
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import delete as delete_rows
from sqlalchemy import update

from frepo_core import assemble
from frepo_core.db import types
from frepo_core.db.models import Collection, Installation, StoredObject
from frepo_core.errors import FieldsError
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.features.second_copies.gaps import read_compared_at
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.versions.version_checks import NewCheck
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.objects.states import ObjectState
from support.reliability.clock import clock_of


@pytest.fixture
def ini(ini, tmp_path):
    third = {
        "storages": "second third",
        "storage.third.adapter": "local",
        "trash.keep": "7d",
        "mirror.delete_delay": "7d",
    }
    return ini | third | {"storage.third.directory": str(tmp_path / "third")}


@pytest.fixture
def edit(services, sender):
    return lambda id_, **values: services.collections.edit(id_, CollectionChange(limits={}, **values), by=sender)


@pytest.fixture
def places(second):
    """Return the storages of the copies of contents that are used, with their states."""
    return lambda: sorted((row.storage, row.state) for row in second.current())


@pytest.fixture
def leaving(second):
    return lambda: sorted(row.storage for row in second.rows() if row.state == ObjectState.LEAVING)


@pytest.mark.costly
@pytest.mark.databases
def test_an_upload_wants_its_copy_where_its_collection_says(make_collection, push, places, mirror):
    for chosen in (None, "third", "none"):
        push(make_collection(mirror=chosen), b"of %s" % str(chosen).encode())
    assert [("second", "wanted"), ("third", "wanted")] == places()

    assert 2 == mirror()["copied"]

    assert [("second", "present"), ("third", "present")] == places()


def test_a_content_of_several_collections_has_the_copies_of_all(make_collection, push, add, places):
    for chosen in ("none", "third"):
        push(make_collection(mirror=chosen), b"shared")
    assert [("third", "wanted")] == places()

    add(b"shared")

    assert [("second", "wanted"), ("third", "wanted")] == places()


@pytest.mark.costly
@pytest.mark.databases
def test_an_edit_makes_copies_and_then_deletes_those_that_nothing_wants(
    services, make_collection, push, edit, mirror, places, leaving
):
    collection = make_collection()
    for content in (b"one", b"two"):
        push(collection, content)
    mirror()
    edit(collection, mirror="third")

    report = mirror()
    assert (2, 2, 0) == (report["wanted"], report["copied"], report["leaving"])
    assert [] == leaving(), "nothing leaves before the new copies are present"
    services.database.execute(delete_rows(Installation).where(Installation.name.startswith("mirror.compared.")))
    report = mirror()

    assert (0, 2) == (report["wanted"], report["leaving"])
    assert (2 * ["second"], 2 * [("third", "present")]) == (leaving(), places())


@pytest.mark.costly
def test_copies_leave_at_once_if_none_are_wanted_and_come_back(make_collection, push, edit, mirror, places, leaving):
    collection = make_collection()
    push(collection, b"one")
    mirror()

    edit(collection, mirror="none")
    mirror()
    assert (["second"], []) == (leaving(), places())
    edit(collection, mirror="")
    mirror()

    assert ([], [("second", "present")]) == (leaving(), places())


def test_what_others_use_and_what_is_locked_keeps_its_copies(make_collection, push, add, edit, mirror, places, leaving):
    shared, locked = make_collection(), make_collection(locked=timedelta(days=30))
    push(shared, b"shared")
    add(b"shared")
    push(locked, b"locked")
    mirror()

    for collection in (shared, locked):
        edit(collection, mirror="none")
    mirror()

    assert ([], 2 * [("second", "present")]) == (leaving(), places())


@pytest.mark.databases("postgresql")
def test_a_host_whose_clock_is_wrong_ends_no_lock_and_no_delay(
    services, make_collection, push, edit, mirror, places, leaving, second, monkeypatch
):
    """Times are those of the database's clock, which all hosts share."""
    free, locked = make_collection(), make_collection(locked=timedelta(days=30))
    push(free, b"free")
    push(locked, b"locked")
    mirror()
    stored, right_time = second.stored(), time.time

    for days, collection in ((-40, free), (40, locked)):
        monkeypatch.setattr(types, "datetime", clock_of(lambda days=days: right_time() + days * 86_400))
        edit(collection, mirror="none")
        mirror()
    with services.database.reading() as session:
        compared = read_compared_at(session, services.backends)
    monkeypatch.undo()
    mirror()

    assert (["second"], [("second", "present")], stored) == (leaving(), places(), second.stored())
    assert compared < services.database.now()


def test_the_trash_follows_its_collection_also_if_that_was_deleted(
    services, sender, make_collection, push, edit, mirror, places
):
    collection = make_collection(mirror="third")
    push(collection, b"one")
    services.collections.delete(collection, by=sender, with_versions=True)
    services.database.execute(delete_rows(StoredObject).where(StoredObject.role == "copy"))

    mirror()

    assert [("third", "present")] == places()


def test_an_upload_follows_an_edit_that_was_faster(services, sender, make_collection, edit, places):
    collection = make_collection(mirror="none")
    begun = services.collections.get(collection)
    edit(collection, mirror="third")

    services.add_version.add(begun, Incoming(stream=BytesIO(b"one")), by=sender)

    assert [("third", "wanted")] == places()


def test_a_version_that_a_late_result_gives_back_wants_its_copy_at_once(
    services, sender, make_collection, push, places
):
    collection = make_collection(1)
    push(collection, b"one")
    newest = push(collection, b"two").version
    services.database.execute(delete_rows(StoredObject).where(StoredObject.role == "copy"))

    services.late_results.record(newest.id, NewCheck(name="later", outcome="broken", message="cut"), by=sender)

    assert [1, 2] == sorted(version.number for version in services.versions.list(collection))
    assert [("second", "wanted")] == places()


def test_a_mirror_that_is_not_configured_any_more_is_a_problem(services, make_collection):
    collection = make_collection(mirror="third")
    assert not services.health.run()["copies"]
    services.database.execute(update(Collection).where(Collection.id == collection).values(mirror="gone"))

    assert "not configured any more: 'gone' (1)" in services.health.run()["copies"][0]


def test_a_mirror_that_cannot_be_used_is_refused(make_collection, edit):
    collection = make_collection(storage="third")

    for name, said in [("nowhere", "not one of the configured"), ("third", "the versions themselves are in 'third'")]:
        with pytest.raises(FieldsError) as refused:
            edit(collection, mirror=name)
        assert said in str(refused.value.fields)
    edit(collection, mirror="second")
    with pytest.raises(FieldsError):
        edit(collection, storage="second")
    edit(collection, storage="second", mirror="third")
    with pytest.raises(FieldsError) as refused:
        edit(collection, mirror="")
    assert "'second' has the second copies" in str(refused.value.fields["storage"])


def test_what_was_stored_while_the_service_had_no_mirror_is_copied_when_it_has_one(
    services, ini, plugins, upload_by, mirror, places
):
    mirror()
    off = assemble(ini | {"mirror": ""}, {}, plugins)
    off.feature(SecondCopyServices).mirror.compare(keep_going=lambda: None)
    upload_by(off, b"meanwhile")
    off.database.engine.dispose()
    assert [] == places()

    report = mirror()

    assert (1, 1, [("second", "present")]) == (report["wanted"], report["copied"], places())
