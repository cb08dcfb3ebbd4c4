"""The trash gives way with encoded contents: a base ends only together with all that needs it."""

import pytest

from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs


@pytest.fixture
def free(services):
    return lambda size: services.early_ending.give_way(size, by=None)


@pytest.fixture
def contents():
    return list(nights(4, 1000))


@pytest.fixture
def blobs(services):
    return StoredBlobs(services)


@pytest.mark.databases
def test_a_base_that_a_version_needs_is_passed_over(services, blobs, make_collection, push, free, entries, contents):
    kept, collection = make_collection(9), make_collection(1)
    push(kept, contents[0])
    for content in contents[1:]:
        push(collection, content)
    blobs.encode(contents[0], contents[1])
    blobs.encode(contents[2], contents[3])
    blobs.end_superseded()

    freed = free(1)

    assert ([(1, "evicted")], 1) == (entries(), freed.versions)
    assert freed.size < len(contents[2]) / 3
    assert 0 == free(1).versions


@pytest.mark.databases
def test_a_base_ends_with_all_that_needs_it(services, blobs, make_collection, push, free, entries, contents, blob_keys):
    collection = make_collection(1)
    for content in contents:
        push(collection, content)
    blobs.encode(contents[1], contents[2])
    blobs.encode(contents[0], contents[1])
    size = sum(blobs.row(content).object_size for content in contents[:3])
    blobs.end_superseded()

    freed = free(1)

    assert ([], 3, size) == (entries(), freed.versions, freed.size)
    assert [blobs.row(contents[3]).key] == blob_keys()


def test_what_was_superseded_ends_before_the_trash(
    services, blobs, make_collection, push, free, entries, contents, keys
):
    collection = make_collection(1)
    for content in contents[:2]:
        push(collection, content)
    blobs.encode(contents[0], contents[1])
    services.blobs.gate.delete_due("local")  # the jobs read the new object, which is not deleted yet
    before = len(keys())

    freed = free(1)

    assert ([(1, "evicted")], 0, len(contents[0])) == (entries(), freed.versions, freed.size)
    assert before - 1 == len(keys())


def test_what_is_counted_is_what_is_stored(services, blobs, make_collection, push, contents):
    collection = make_collection(1)
    for content in contents[:2]:
        push(collection, content)
    blobs.encode(contents[0], contents[1])

    assert blobs.row(contents[0]).stored_size == services.early_ending.size()


def test_a_base_outlives_its_entry_until_nothing_needs_it(
    services, blobs, make_collection, push, contents, sender, blob_keys
):
    collection = make_collection(9)
    for content in contents[:3]:
        push(collection, content)
    blobs.encode(contents[0], contents[1])
    keys = [blobs.row(content).key for content in contents[:3]]
    for number in (1, 2):
        services.versions.delete(collection, f"v{number}", by=sender)

    services.trash.end(collection, 2, by=sender)
    assert sorted(keys) == blob_keys()
    services.trash.end(collection, 1, by=sender)
    assert [keys[2]] == blob_keys()
