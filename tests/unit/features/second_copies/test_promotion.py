"""`storage:promote` makes the second storage the first one; the records of contents follow in pages."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from sqlalchemy import select

from frepo_core import assemble
from frepo_core.db.models import StoredObject
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.features.second_copies.promotion import PromotionRefusedError
from frepo_core.plugins import StorageUnavailable
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.content.blobs import upload_transaction
from frepo_core.services.content.storages.first_storage import find_differences, follow_promotion
from frepo_core.services.upkeep.storage import OwnerMark, verify
from frepo_core.testing import MemoryStorage
from support.encodings.nights import nights


class Deleted(MemoryStorage):
    """A bucket that somebody has deleted."""

    def free_space(self):
        raise StorageUnavailable("The bucket does not exist")


@pytest.fixture
def other_process(services, ini, plugins):
    """The services of a process that was started before the promotion, and has not read the row yet."""
    made = assemble(ini, {}, plugins)
    yield made
    made.database.engine.dispose()


@pytest.fixture
def promote(services):
    def promote(storage="second", **options):
        plan = services.feature(SecondCopyServices).promotions.plan(storage, **options)
        services.feature(SecondCopyServices).promotions.promote(plan)
        return plan

    return promote


@pytest.fixture
def lose(ini):
    """Lose the first storage: the disk is not mounted any more."""
    return lambda: shutil.rmtree(ini["fs.local.directory"])


def states_in(services, storage):
    """The states of the current objects in a storage."""
    with services.database.reading() as session:
        current = (StoredObject.storage == storage, StoredObject.slot == 1)
        return session.scalars(select(StoredObject.state).where(*current)).all()


def stored_in(backend):
    return sorted(stat.key for stat in backend.list() if OwnerMark.parse(stat.key) is None)


@pytest.mark.databases
def test_a_promotion_changes_no_object_and_reads_come_from_the_promoted_storage(
    services, add, mirror, second, promote, lose, read
):
    files = {content: add(content) for content in (b"%d" % number for number in range(7))}
    mirror()
    lose()

    plan = promote()

    assert (7, 0, False) == (plan.contents, plan.loss.contents, plan.loss.works)
    assert {content: read(file) for content, file in files.items()} == {content: content for content in files}
    assert 7 * ["present"] == states_in(services, "local") == states_in(services, "second")


@pytest.mark.costly
def test_a_promotion_can_be_repeated(services, add, mirror, promote, kinds):
    add(b"one")
    mirror()
    plan = services.feature(SecondCopyServices).promotions.plan("second")
    services.feature(SecondCopyServices).promotions.promote(plan)
    services.feature(SecondCopyServices).promotions.promote(plan)
    assert 1 == kinds().count("storage.promoted")
    with pytest.raises(PromotionRefusedError, match="is the first storage already"):
        services.feature(SecondCopyServices).promotions.plan("second")


@pytest.mark.databases("sqlite", "postgresql")  # their drivers count inserted rows in different ways
def test_a_process_that_has_not_read_of_it_stores_in_the_promoted_storage(
    services, other_process, add, mirror, promote, upload_by, lose, read
):
    add(b"one")
    mirror()
    promote()

    stored = upload_by(other_process, b"two")
    lose()
    later = upload_by(other_process, b"three")

    assert ["second", "second"] == [stored.blob.storage, later.blob.storage]
    assert [b"two", b"three"] == [read(stored), read(later)]


@pytest.mark.databases
def test_a_promotion_waits_for_uploads_that_have_read_which_storage_is_the_first(
    services, other_process, add, mirror, upload_by, monkeypatch
):
    add(b"one")
    mirror()
    has_read, may_commit = threading.Event(), threading.Event()
    monkeypatch.setattr(
        upload_transaction, "hit", lambda point: point == "rows_written" and (has_read.set(), may_commit.wait(60))
    )
    plan = services.feature(SecondCopyServices).promotions.plan("second")
    with ThreadPoolExecutor(2) as threads:
        upload = threads.submit(upload_by, other_process, b"two")
        assert has_read.wait(60)
        promotion = threads.submit(services.feature(SecondCopyServices).promotions.promote, plan)
        promotion_was_faster = bool(wait([promotion], 0.5).done)
        may_commit.set()

    assert "local" == upload.result().blob.storage
    assert promotion.result() is not None
    assert not promotion_was_faster, "the upload is in `local`, and was committed when `second` was the first"


def test_a_process_that_cannot_store_looks_for_a_promotion(
    services, other_process, add, mirror, promote, lose, upload_by
):
    add(b"one")
    mirror()
    lose()
    promote()

    assert "second" == upload_by(other_process, b"two").blob.storage


def test_a_process_that_cannot_measure_the_room_looks_for_a_promotion(
    services, other_process, add, mirror, promote, lose
):
    add(b"one")
    mirror()
    lose()
    promote()
    other_process.backends._built["local"] = Deleted()

    assert None is not other_process.storage_space.free()
    assert "second" == other_process.backends.current


def test_the_room_in_a_storage_that_fails_is_an_error_if_nothing_was_promoted(services):
    services.backends._built["local"] = Deleted()

    with pytest.raises(StorageUnavailable):
        services.storage_space.free()


@pytest.mark.costly
def test_what_has_no_copy_yet_is_named_and_stays_until_it_is_copied(services, add, mirror, second, promote, read):
    add(b"one")
    mirror()
    file = add(b"two")

    plan = promote()

    assert (1, 3, [f"file {file.stored_name}"]) == (plan.loss.contents, plan.loss.size, plan.loss.names)
    assert plan.loss.works
    assert b"two" == read(file)
    report = mirror()
    assert (1, 0) == (report["copied"], report["repaired"])
    assert 2 * ["present"] == states_in(services, "second") == states_in(services, "local")


def test_the_two_storages_change_places(services, add, mirror, second, promote, read):
    add(b"one")
    mirror()
    promote()
    file = add(b"two")

    mirror()

    assert ("second", "local") == (services.backends.current, services.backends.mirror)
    assert "second" == file.blob.storage
    assert 2 * ["present"] == states_in(services, "local")
    promote("local")
    assert ("local", "second") == (services.backends.current, services.backends.mirror)
    assert b"two" == read(file)


def test_collections_that_name_one_of_the_two_storages_follow(services, by, second, mirror, promote):
    def make(**places):
        return services.collections.create(CollectionChange(limits={}, filename="dump.sql", **places), by=by).id

    made = [make(), make(storage="local"), make(mirror="second"), make(storage="local", mirror="second")]
    mirror()

    promote()

    found = [services.collections.get(one) for one in made]
    assert [(None, None), (None, None), (None, "local"), (None, "local")] == [
        (one.storage, one.mirror) for one in found
    ]


def test_what_is_uploaded_again_after_a_promotion_is_one_content_and_keeps_both_objects(
    services, add, mirror, second, promote, read, upload_by
):
    old = add(b"one")
    mirror()
    before = stored_in(services.backends.get("local")), stored_in(second.backend)
    promote()
    new = upload_by(services, b"one", password="a-password-5ecre7")

    mirror()

    assert old.blob.id == new.blob.id
    assert b"one" == read(old) == read(new)
    assert before == (stored_in(services.backends.get("local")), stored_in(second.backend))
    assert ["present"] == states_in(services, "local") == states_in(services, "second")


def test_a_storage_that_does_not_work_is_not_promoted(services, add, mirror, second, ini):
    add(b"one")
    mirror()
    shutil.rmtree(ini["storage.second.directory"])
    with pytest.raises(PromotionRefusedError, match="'second' does not work.*is not the one it was"):
        services.feature(SecondCopyServices).promotions.plan("second")


def test_a_storage_that_has_lost_its_copies_is_not_promoted(services, add, mirror, second):
    add(b"one")
    mirror()
    second.backend.delete(second.rows()[0].key)
    with pytest.raises(PromotionRefusedError, match="lacks 1 of the newest 1 copies"):
        services.feature(SecondCopyServices).promotions.plan("second")


def test_the_settings_are_said_to_differ_until_they_name_the_promoted_storage(
    services, ini, plugins, add, mirror, promote
):
    add(b"one")
    mirror()
    assert [] == list(find_differences(services.backends, "second"))
    promote()
    [first, copies] = find_differences(services.backends, "second")
    assert "Set fs.adapter = second" in first[1]
    assert "Set mirror = local" in copies[1]

    changed = assemble(ini | {"fs.adapter": "second", "mirror": "local"}, {}, plugins)
    follow_promotion(changed.database, changed.backends)

    assert [] == list(find_differences(changed.backends, "local"))
    assert ("second", "local") == (changed.backends.current, changed.backends.mirror)
    changed.database.engine.dispose()


@pytest.mark.parametrize("change", ["encode", "expand"])
def test_the_sound_copy_on_the_former_disk_is_kept_although_it_is_stored_in_another_way(
    services, add, blobs, mirror, second, promote, read, change
):
    """A bit has flipped in the copy that is promoted, which was not made again since the first one was encoded."""
    contents = list(nights(2, 2000))
    files = [add(content) for content in contents]
    if change == "expand":
        assert blobs.encode(*contents)
    mirror()
    path = second.backend.path(second.rows()[0].key)
    data = bytearray(path.read_bytes())
    data[-10] ^= 4
    path.chmod(0o600)
    path.write_bytes(data)
    assert blobs.encode(*contents) if change == "encode" else blobs.expand(contents[0])

    promote()
    mirror()
    assert 1 == len(verify(services.database, services.backends).damaged)
    mirror()

    assert [] == verify(services.database, services.backends).damaged
    assert contents == [read(file) for file in files]


def test_what_is_under_the_key_of_a_copy_stays_until_its_source_was_read(
    services, add, mirror, second, promote, lose, path_of
):
    """What the former disk has is cut, and what was promoted is damaged, too: both are left for a person."""
    file = add(b"some bytes")
    mirror()
    path_of(file).chmod(0o600)
    path_of(file).write_bytes(b"some")
    copy = second.backend.path(second.rows()[0].key)
    copy.chmod(0o600)
    copy.write_bytes(b"same bytes")
    promote()

    mirror()

    assert [b"some", b"same bytes"] == [path_of(file).read_bytes(), copy.read_bytes()]
