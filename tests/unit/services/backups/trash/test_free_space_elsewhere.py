"""Room in one storage costs no entry of the trash whose collection is stored in another one."""

import pytest

from frepo_core.db import utc_now
from frepo_core.db.models import Installation
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.content.storages.kept_blobs import RECONCILE

ARCHIVE, LOCAL = {"storage": "archive"}, {}


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings | {"mirror": "archive"}


@pytest.fixture
def free(services):
    return lambda storage: services.early_ending.of(storage).give_way(1, by=None)


@pytest.fixture
def evict(make_collection, push):
    """Let a collection evict a content; return its id."""

    def evict(content, **more):
        collection = make_collection(1, mirror="none", **more)
        push(collection, content)
        push(collection, content + b"2")
        return collection

    return evict


@pytest.mark.databases
def test_a_content_that_a_collection_elsewhere_has_too_is_passed_over(services, evict, free, entries):
    evict(b"shared")
    other = evict(b"shared", storage="archive")

    assert (0, 0) == (free(None).versions, free("archive").versions)
    assert 2 == len(entries())
    services.trash.end(other, 1, by=None)
    assert 1 == free(None).versions


def test_a_collection_that_was_deleted_keeps_its_storage(services, evict, free, entries, sender):
    evict(b"shared")
    services.collections.delete(evict(b"shared", storage="archive"), by=sender, with_versions=True)

    before = len(entries())
    free(None)

    assert before == len(entries())


def test_nothing_ends_while_no_bytes_may_be_deleted(services, evict, free, entries):
    """After an upgrade or an adoption, the storages are to be compared first: an ended entry would give no room."""
    evict(b"old")
    frozen = Installation(name=f"{RECONCILE}local", value=utc_now().isoformat())
    services.database.write(lambda session: session.add(frozen))

    assert 0 == free(None).versions
    assert not services.early_ending.is_kept_from(1 << 60)
    assert [(1, "evicted")] == entries()


def test_room_for_second_copies_ends_nothing(services, make_collection, push, free, entries):
    """Ended entries give room in the mirror only after `mirror.delete_delay`, and the first storage may have plenty."""
    collection = make_collection(1)
    for content in (b"1", b"2"):
        push(collection, content)
    services.feature(SecondCopyServices).mirror.run("archive", keep_going=lambda: None, progress=lambda text: None)

    assert 0 == free("archive").versions
    assert [(1, "evicted")] == entries()
