"""What each storage is worth: what it promises, decodes and has read, and what its fire would cost."""

from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.features.doctor.data import check_storage
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.features.storage_check.storage_check import check_storages
from frepo_core.services.base.keyset import PageRequest
from frepo_core.services.content.objects.marks import mark_damaged
from frepo_core.services.upkeep.storage import verify
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs

DAYS = timedelta(days=30)


@pytest.fixture
def ini(ini, tmp_path):
    more = {"storages": "second", "storage.second.adapter": "local", "mirror": "second", "mirror.rate": "0"}
    return ini | more | {"storage.second.directory": str(tmp_path / "second")}


@pytest.fixture
def run(services):
    return partial(services.jobs.run, cause="test")


@pytest.fixture
def check(services):
    """Return the worth of each storage by its name. The other reports must say the same about what is lacking."""

    def check():
        found = check_storages(services, read_within=DAYS)
        worth = {one.storage: one for one in found.storages}
        [copies] = services.feature(SecondCopyServices).reports.read()
        assert worth["second"].lacks == copies.behind
        return worth, found.lost

    return check


def damage(services, content, storage):
    """Let it be known that the object of a content in a storage is damaged."""
    with services.database.reading() as session:
        [row] = session.query(StoredObject).filter_by(
            storage=storage, slot=1, digest=StoredBlobs(services).row(content).digest
        )
    services.database.write(partial(mark_damaged, backends=services.backends, seen=row, problem="wrong", by=None))


def test_what_has_no_copy_yet_burns_with_the_first_storage(services, run, make_collection, push, check):
    collection = make_collection(9)
    for content in (b"one", b"three"):
        push(collection, content)
    push(make_collection(9), b"one")

    worth, lost = check()

    first, second = worth["local"], worth["second"]
    assert (2, 8) == (first.promised.contents, first.promised.size)
    assert (2, 0, 0) == (first.decodable.contents, first.lacks, first.read.contents)
    assert (2, 0, 2) == (second.promised.contents, second.decodable.contents, second.lacks)
    assert (2, 8, 3) == (first.only_here.contents, first.only_here.size, first.only_here.versions)
    assert "2 contents (8 bytes; 3 versions)" == first.only_here.describe()

    run("mirror")
    worth, lost = check()

    assert [(0, 0, 2)] * 2 == [(one.lacks, one.only_here.contents, one.decodable.contents) for one in worth.values()]
    assert 2 == worth["second"].read.contents  # the copies were read back
    assert 0 == lost.contents


def test_what_is_promised_once_is_only_there(services, run, make_collection, push, check):
    push(make_collection(9, mirror="none"), b"alone")
    push(make_collection(9), b"twice")
    run("mirror")

    worth, _ = check()

    assert (2, 1) == (worth["local"].promised.contents, worth["second"].promised.contents)
    assert (1, 5, 1) == (
        worth["local"].only_here.contents,
        worth["local"].only_here.size,
        worth["local"].only_here.versions,
    )
    assert 0 == worth["second"].only_here.contents


def test_differences_to_what_is_damaged_cannot_be_decoded(services, run, make_collection, push, check):
    contents = list(nights(3, 500))
    collection = make_collection(9)
    for content in contents:
        push(collection, content)
    StoredBlobs(services).chain(contents)
    StoredBlobs(services).end_superseded()
    run("mirror")
    assert 0 == check()[0]["second"].lacks

    damage(services, contents[-1], "second")

    worth, lost = check()
    assert 3 == worth["second"].lacks
    assert 3 == worth["local"].only_here.contents
    assert 0 == lost.contents


def test_what_is_a_difference_to_what_is_lost_is_damaged_at_once(services, run, make_collection, push):
    """Nobody has to verify it, also where the second copy of the difference itself is sound."""
    contents = [b"whole", *nights(3, 500)]
    collection = make_collection(9)
    for content in contents:
        push(collection, content)
    StoredBlobs(services).chain(contents[1:])
    StoredBlobs(services).end_superseded()
    run("mirror")
    damage(services, contents[3], "local")

    def see():
        versions, page = services.versions.list(collection), services.versions.page(collection, PageRequest())
        found = [version.file.blob.is_damaged for version in versions]
        assert found == [version.file.blob.is_damaged for version in page.items]
        assert found == [services.versions.find(collection, one.id).file.blob.is_damaged for one in versions]
        return (
            found,
            services.versions.find(collection, "good").number,
            services.collection_states.read([collection])[collection].state,
        )

    before = see()
    damage(services, contents[3], "second")

    assert ([False] * 4, 4, "ok") == before
    assert ([False, True, True, True], 1, "damaged") == see()


def test_what_was_read_long_ago_counts_as_not_read(services, run, make_collection, push, check):
    push(make_collection(9), b"one")
    run("mirror")
    assert verify(services.database, services.backends).checked
    assert [1, 1] == [one.read.contents for one in check()[0].values()]

    old = update(StoredObject).where(StoredObject.storage == "second")
    services.database.execute(old.values(read_at=utc_now() - DAYS - timedelta(days=1)))

    assert {"local": 1, "second": 0} == {name: one.read.contents for name, one in check()[0].items()}


def test_what_no_storage_has_is_lost(services, run, make_collection, push, sender, check):
    collection = make_collection(9)
    push(collection, b"one")
    push(collection, b"two")
    services.versions.delete(collection, "v1", by=sender)
    run("mirror")
    for storage in ("local", "second"):
        damage(services, b"one", storage)

    worth, lost = check()

    assert (1, 0, 1) == (lost.contents, lost.versions, lost.trash)
    assert [1, 1] == [one.lacks for one in worth.values()]
    assert [0, 0] == [one.only_here.contents for one in worth.values()]


def test_a_storage_that_does_not_work_saves_nothing_from_the_fire_of_another_one(
    services, run, make_collection, push, check, tmp_path
):
    push(make_collection(9), b"one")
    run("mirror")
    (tmp_path / "storage").rename(tmp_path / "away")

    worth, lost = check()

    assert "is not the one it was" in worth["local"].trouble
    assert (None, 1) == (worth["second"].trouble, worth["second"].only_here.contents)
    assert 0 == lost.contents


def test_after_a_promotion_the_former_first_storage_is_checked_too(services, run, make_collection, push, tmp_path):
    push(make_collection(9), b"one")
    run("mirror")
    assert not any(services.health.run(is_logged=False).values())
    (tmp_path / "storage").rename(tmp_path / "away")
    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("second")
    )

    health = services.health.run(is_logged=False)

    assert [] == list(health["storage"])
    assert "The storage 'local' is not the one it was" in health["storage_second"][0]
    found = list(check_storage(services, lambda: health))
    assert not [one for one in found if "'local'" in one.message and "deleted a probe" in one.message]
