"""Lists that a plug-in reads page by page, with and without the rights of a client."""

import io

import pytest

from frepo_core.domain.roles import Role
from frepo_core.plugins import AccessDeniedError, FieldsError, NotFoundError

from .conftest import DUMP


def read(page, key, **more):
    """Return the items of all pages of two, and how many pages there are."""
    items, pages, after = [], 0, None
    while pages == 0 or after:
        found = page(limit=2, after=after, **more)
        assert len(found.items) <= 2
        items += [getattr(one, key) for one in found.items]
        pages, after = pages + 1, found.next
    return items, pages


@pytest.fixture
def five(running, service, identify):
    """A collection with five versions."""
    collection = running.make_collection(max_versions=10)
    for number in range(5):
        service.add_version(collection, io.BytesIO(DUMP + bytes([number])), by=identify(running.admin))
    return collection


@pytest.mark.costly
def test_versions_are_read_newest_first(running, service, five, identify):
    def page(**more):
        return service.versions(five, **more)

    assert ([5, 4, 3, 2, 1], 3) == read(page, "number")
    assert read(page, "number") == read(page, "number", by=identify(running.admin))
    assert ([], 1) == read(page, "number", verdicts=["broken"])
    first = service.versions(five, limit=1).items[0]
    assert ("dump.sql", len(DUMP) + 1, five) == (first.name, first.size, first.collection_id)


def test_the_trash_and_the_checks_of_a_version_are_read(running, service, five, identify):
    """What is in the trash may come back: what it needs has to stay."""
    for number in (2, 4, 5):
        running.request("DELETE", f"/api/v1/collections/{five}/versions/v{number}")
    reader = identify(running.make_token(Role.LIST_VERSIONS.value, Role.RESTORE_FROM_TRASH.value))

    assert ([5, 4, 2], 2) == read(service.trash, "number", collection_id=five)
    entry = service.trash(five, limit=1).items[0]
    assert (five, "deleted", len(DUMP) + 1, False) == (entry.collection_id, entry.reason, entry.size, entry.damaged)
    assert entry.ends_at > entry.evicted_at > entry.created_at
    [check] = service.checks(five, 1)
    assert (1, "integrity", "not checked") == (check.number, check.name, check.outcome)
    assert check.message
    assert [] == service.checks(five, 5)
    for call in (service.trash, lambda collection, **more: service.checks(collection, 1, **more)):
        with pytest.raises(AccessDeniedError):
            call(five, by=reader)
        with pytest.raises(NotFoundError):
            call("9a1b7a0e-6a0e-4f0a-9b9f-2f5d0c8a0001")
    running.request("PUT", f"/api/v1/collections/{five}/access/{reader.fingerprint}")
    assert [5, 4, 2] == [one.number for one in service.trash(five, by=reader).items]
    assert service.checks(five, 1) == service.checks(five, 1, by=reader)


def test_versions_of_a_collection_that_does_not_list_the_token_are_refused(running, service, five, identify):
    reader = identify(running.make_token(Role.LIST_VERSIONS.value))

    with pytest.raises(AccessDeniedError):
        service.versions(five, by=reader)
    with pytest.raises(NotFoundError):
        service.versions("9a1b7a0e-6a0e-4f0a-9b9f-2f5d0c8a0001")


@pytest.mark.costly
def test_a_client_reads_the_collections_that_it_may_see(running, service, five, identify):
    others = [running.make_collection() for _ in range(4)]
    reader = identify(running.make_token(Role.LIST_COLLECTIONS.value))
    running.request("PUT", f"/api/v1/collections/{others[0]}/access/{reader.fingerprint}")

    assert (sorted([five, *others]), 3) == read(service.collections, "id")
    assert ([others[0]], 1) == read(service.collections, "id", by=reader)
    assert {five: 5, others[0]: 0}.items() <= {one.id: one.versions for one in service.collections().items}.items()


def test_a_plug_in_finds_the_collections_of_its_strategy_and_their_options(running, service, identify):
    others = [running.make_collection() for _ in range(2)]
    kept = sorted(running.make_collection(strategy="keep", strategy_options={"daily": days}) for days in (3, 4, 5))
    reader = identify(running.make_token(Role.LIST_COLLECTIONS.value))
    running.request("PUT", f"/api/v1/collections/{kept[1]}/access/{reader.fingerprint}")

    assert (kept, 2) == read(service.collections, "id", strategy="keep")
    assert ([kept[1]], 1) == read(service.collections, "id", strategy="keep", by=reader)
    assert ([], 1) == read(service.collections, "id", strategy="keep_nothing")
    assert {3, 4, 5} == {service.collection(one).strategy_options["daily"] for one in kept}
    found = service.collection(others[0])
    assert ("delete_oldest_when_adding_new", {}) == (found.strategy, found.strategy_options)


def test_a_client_reads_the_files_that_it_may_see(running, service, identify):
    admin = identify(running.admin)
    names = [
        service.upload_file(io.BytesIO(bytes([number])), f"{number}.txt", by=admin, public=number > 1).name
        for number in range(5)
    ]
    reader, other = identify(running.make_token(Role.VIEW_LISTING.value)), identify(running.make_token("upload.all"))

    assert (names[::-1], 3) == read(service.files, "name")
    assert names[:1:-1] == read(service.files, "name", by=reader)[0]
    with pytest.raises(AccessDeniedError):
        service.files(by=other)


def test_the_cursor_of_another_list_and_a_wrong_limit_are_refused(service, five):
    cursor = service.versions(five, limit=1).next

    for after in (cursor, "no cursor", '{"a": 1}'):
        with pytest.raises(FieldsError):
            service.collections(after=after)
    for limit in (0, 1001):
        with pytest.raises(ValueError, match="limit"):
            service.files(limit=limit)
