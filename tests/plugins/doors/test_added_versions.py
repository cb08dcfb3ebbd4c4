"""Versions that a plug-in adds in the name of a client: by the rules of an upload."""

import io
from dataclasses import replace

import pytest

from frepo_core.db import utc_now
from frepo_core.domain.roles import Role
from frepo_core.errors import CollectionFullError, DigestMismatchError, TooBigError, VersionTooBigError
from frepo_core.plugins import (
    AccessDeniedError,
    ClientCheck,
    FieldsError,
    FrepoError,
    IdempotencyConflictError,
    Identity,
    NewRun,
    NotFoundError,
    ReadOnlyError,
)
from support.samples import PNG

from .conftest import DUMP, told


def add(service, collection, by, content=DUMP, **more):
    return service.add_version(collection, io.BytesIO(content), by=by, **more)


def shown(running, collection, number):
    return running.request("GET", f"/api/v1/collections/{collection}/versions/v{number}").json


def ended_with(*statuses, **more):
    return NewRun(outcome="ok", exit_statuses=statuses, **more)


def runs(running, collection):
    found = running.request("GET", f"/api/v1/collections/{collection}/runs").json["items"]
    return [(run["outcome"], run["exit_statuses"], run["version"]) for run in found]


@pytest.mark.costly
def test_a_version_is_added_as_by_an_upload(running, service, collection, uploader):
    added = add(service, collection, uploader)

    sent = shown(running, collection, 1)
    event = told(running, "version.added")
    assert (added.number, added.size, added.sha256, added.stored_name) == (
        1,
        sent["size"],
        sent["sha256"],
        sent["file_name"],
    )
    assert (event["actor"], event["version_number"]) == (uploader.fingerprint, 1)
    assert DUMP == running.request("GET", f"/api/v1/collections/{collection}/versions/v1/content").body


def test_rotation_and_limits_apply(running, service, uploader, collection):
    for number in range(4):
        add(service, collection, uploader, DUMP + bytes([number]))

    assert [2, 3, 4] == running.versions(collection)


def test_what_was_stored_for_a_key_and_has_left_since_is_not_said_to_be_there(running, service, uploader, collection):
    key = {"idempotency_key": "night-1"}
    first = add(service, collection, uploader, **key)
    assert [False, first] == [first.removed, add(service, collection, uploader, **key)]
    for number in range(3):
        add(service, collection, uploader, DUMP + bytes([number]))

    again = add(service, collection, uploader, **key)
    found = service.find_added_version(collection, by=uploader, sha256=first.sha256, **key)

    assert again == found == replace(first, removed=True)
    assert [2, 3, 4] == running.versions(collection)


def test_a_key_is_for_one_content(running, service, collection, uploader):
    add(service, collection, uploader, idempotency_key="night-1")

    with pytest.raises(IdempotencyConflictError):
        add(service, collection, uploader, b"other", idempotency_key="night-1")
    assert [1] == running.versions(collection)


def test_a_file_that_was_deleted_since_is_not_said_to_be_there(running, service, identify):
    by, key = identify(running.admin), {"idempotency_key": "logo"}
    first = service.upload_file(io.BytesIO(PNG), "logo.png", by=by, **key)
    running.request("DELETE", f"/api/v1/files/{first.name}")

    again = service.upload_file(io.BytesIO(PNG), "logo.png", by=by, **key)

    assert again == service.find_added_file(by=by, sha256=first.sha256, **key) == replace(first, removed=True)
    assert 404 == running.request("GET", f"/api/v1/files/{first.name}").status


def test_without_the_role_or_the_list_nothing_is_added(running, service, collection, identify):
    unlisted = identify(running.make_token(Role.UPLOAD_VERSIONS.value))
    other_role = identify(running.make_token(Role.LIST_VERSIONS.value))
    running.request("PUT", f"/api/v1/collections/{collection}/access/{other_role.fingerprint}")

    for by in (unlisted, other_role):
        for act in (
            add,
            lambda *given: service.may_add_version(given[1], by=given[2]),
            lambda *given: service.require_upload_right(given[1], by=given[2]),
            lambda *given: service.record_lack_of_room(given[1], "No room", by=given[2]),
        ):
            with pytest.raises(AccessDeniedError):
                act(service, collection, by)
    assert [] == running.versions(collection)


def test_a_collection_that_does_not_exist_is_not_found(service, uploader):
    missing = "9a1b7a0e-6a0e-4f0a-9b9f-2f5d0c8a0001"

    with pytest.raises(NotFoundError):
        add(service, missing, uploader)
    with pytest.raises(NotFoundError):
        service.require_upload_right(missing, by=uploader)


def test_the_limits_of_token_and_collection_are_refused_before_the_content(running, service, identify):
    limits = {"versions": 2, "version_size": 1000, "total_size": 2000}
    created = running.request("POST", "/api/v1/collections", {"name": "a.sql", "limits": limits})
    collection = created.json["id"]
    by = identify(running.admin)
    limited = Identity.of_data({**by.data(), "max_file_size": 100})

    start = service.may_add_version(collection, by=by, size=1000)

    assert (start.last_number, start.max_size, start.collection.name) == (0, 1000, "a.sql")
    assert 100 == service.may_add_version(collection, by=limited).max_size
    for size, by_whom, error in ((1001, by, VersionTooBigError), (101, limited, TooBigError)):
        with pytest.raises(error):
            service.may_add_version(collection, by=by_whom, size=size)
        with pytest.raises(error):
            add(service, collection, by_whom, b"x" * size)
    with pytest.raises(FrepoError) as full:
        service.may_add_version(collection, by=by, size=2001)
    assert isinstance(full.value, VersionTooBigError | CollectionFullError)


def test_the_types_of_the_token_apply_to_the_first_bytes(service, collection, uploader):
    for_images = Identity.of_data({**uploader.data(), "mimes": ["image/png"]})

    service.may_add_version(collection, by=for_images, head=PNG)
    with pytest.raises(FrepoError, match="Mime type"):
        service.may_add_version(collection, by=for_images, head=DUMP)


def test_what_the_client_says_must_be_true(running, service, collection, uploader):
    for said in ({"sha256": "0" * 64}, {"size": len(DUMP) + 1}):
        with pytest.raises(FrepoError):
            add(service, collection, uploader, **said)
    assert [] == running.versions(collection)


def test_the_word_of_the_client_makes_a_version_complete(running, service, collection, uploader):
    added = add(service, collection, uploader, b"in no known format", run=ended_with(0, 0))

    assert ("complete", "complete") == (added.verdict, shown(running, collection, 1)["verdict"])
    assert [("ok", [0, 0], 1)] == runs(running, collection)


@pytest.mark.costly
def test_the_client_says_what_it_found_before_the_encryption(running, service, collection, uploader):
    """Also if it does not know each exit status. What it has found to be broken is put into quarantine."""
    found = []
    for statuses, check in [
        ((), ClientCheck(outcome="good", message="The gzip data is whole")),
        ((), ClientCheck(outcome="good", covers="content", message="The last line is there")),
        ((0, 0), ClientCheck(outcome="good", message="The gzip data is whole")),
        ((0, 0), ClientCheck(outcome="broken", message="The last line is missing")),
    ]:
        content = b"encrypted %d" % len(found)
        added = add(service, collection, uploader, content, run=ended_with(*statuses, check=check))
        found.append((added.verdict, added.quarantined))

    assert [("whole", False), ("complete", False), ("complete", False), ("broken", True)] == found
    reason = "The client has checked the content before its encryption: The last line is missing"
    assert reason == shown(running, collection, 4)["verdict_reason"]


@pytest.mark.costly
def test_a_failed_command_stores_nothing_and_records_a_failed_run(running, service, collection, uploader):
    with pytest.raises(FieldsError) as refused:
        add(service, collection, uploader, run=ended_with(0, 2))
    with pytest.raises(DigestMismatchError):
        add(service, collection, uploader, run=ended_with(0), sha256="0" * 64)

    state = running.request("GET", f"/api/v1/collections/{collection}").json["state"]
    assert "The command ended with 0, 2" in str(refused.value.fields["exit_statuses"])
    assert [("failed", [0], None), ("failed", [0, 2], None)] == runs(running, collection)
    assert ([], "failed") == (running.versions(collection), state)


def test_an_upload_that_newer_ones_overtook_is_put_into_quarantine(running, service, collection, uploader):
    silent = utc_now()
    early = service.may_add_version(collection, by=uploader)
    add(service, collection, uploader, DUMP + b"1")
    late = service.may_add_version(collection, by=uploader)
    add(service, collection, uploader, DUMP + b"2", last_number=late.last_number)

    began = {"last_number": early.last_number, "began_at": silent}
    leftover = add(service, collection, uploader, DUMP + b"2", silent_since=silent, **began)
    normal = add(service, collection, uploader, DUMP + b"2", **began)

    assert not normal.quarantined

    assert (True, "overtaken") == (leftover.quarantined, leftover.quarantine_reason)


def test_a_run_is_recorded(running, service, collection, uploader):
    add(service, collection, uploader)

    about = service.record_run(collection, NewRun(outcome="failed", exit_statuses=(1,), version=1), by=uploader)

    assert 1 == about
    assert "broken" == shown(running, collection, 1)["verdict"]


def test_the_word_of_a_client_about_a_version_condemns_nothing(running, service, collection, uploader):
    version = add(service, collection, uploader)

    for selector in ("v1", version.id):
        service.record_version_check(collection, selector, "restored", "broken", "It does not load", by=uploader)

    checks = running.request("GET", f"/api/v1/collections/{collection}/versions/v1/checks").json["items"]
    assert ("broken", "It does not load") in [(check["outcome"], check["message"]) for check in checks]
    assert "broken" != shown(running, collection, 1)["verdict"]


def test_files_are_uploaded_with_the_rights_of_the_token(running, service, identify):
    uploader = identify(running.make_token(Role.UPLOAD_ALL.value))
    reader = identify(running.make_token(Role.VIEW_LISTING.value))

    assert service.may_upload_file("a b.txt", by=uploader, size=10) is None
    first = service.upload_file(io.BytesIO(b"a text"), "a b.txt", by=uploader, tags=["Text"])
    again = service.upload_file(io.BytesIO(b"a text"), "a b.txt", by=uploader)

    assert (first.tags, first.is_new, again.is_new, again.name) == (("text",), True, False, first.name)
    assert b"a text" == running.request("GET", f"/api/v1/files/{first.name}/content").body
    with pytest.raises(AccessDeniedError):
        service.may_upload_file("b.txt", by=reader)
    for wrong in ({"name": ""}, {"name": "b.txt", "tags": ["a b"]}):
        with pytest.raises(FieldsError):
            service.upload_file(io.BytesIO(b"b"), by=uploader, **wrong)


def test_a_token_can_be_kept_for_what_it_began(running, service):
    token = running.make_token(Role.UPLOAD_ALL.value)
    by = service.identify(token, address="192.0.2.7")
    running.request("DELETE", f"/api/v1/tokens/{by.fingerprint}")

    assert by == Identity.of_data(by.data())
    assert token not in str(by.data())
    with pytest.raises(AccessDeniedError):  # it was revoked
        service.identify(token, address="192.0.2.7", began_at=by.expires_at, earlier=by)


class TestReadOnly:
    @pytest.fixture
    def settings(self, settings):
        return settings | {"read_only": "true"}

    def test_nothing_is_written(self, service, identify, running):
        by = identify(running.admin)

        for call in (
            lambda: service.may_add_version("x", by=by),
            lambda: service.require_upload_right("x", by=by),
            lambda: service.add_version("x", io.BytesIO(b"x"), by=by),
            lambda: service.upload_file(io.BytesIO(b"x"), "x", by=by),
            lambda: service.record_run("x", NewRun(outcome="ok"), by=by),
        ):
            with pytest.raises(ReadOnlyError):
                call()
