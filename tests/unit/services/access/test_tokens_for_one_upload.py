"""A token with `upload.only_once_successful` allows one successful upload, also under concurrency."""

from datetime import timedelta

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError

pytestmark = pytest.mark.databases


@pytest.fixture
def once(identify):
    return identify(Role.ADMINISTRATOR, Role.UPLOAD_ONCE)


def count(results, kind):
    return sum(isinstance(result, kind) for result in results)


def test_one_of_many_concurrent_uploads_succeeds(services, upload, once, at_once, keys):
    results = at_once(lambda number: upload(f"{number}".encode(), name=f"{number}.txt", by=once), range(8))

    assert (7, 1) == (count(results, AccessDeniedError), len(keys()))


def test_one_of_many_concurrent_uploads_of_one_content_succeeds(services, upload, once, at_once, keys):
    results = at_once(lambda number: upload(b"same", name=f"{number}.txt", by=once), range(8))

    assert (7, 1) == (count(results, AccessDeniedError), len(keys()))


def test_one_of_many_concurrent_pushes_succeeds(make_collection, push, once, at_once, numbers, keys):
    collection = make_collection()
    results = at_once(lambda number: push(collection, f"{number}".encode(), by=once), range(8))

    assert (7, [1], 1) == (count(results, AccessDeniedError), numbers(collection), len(keys()))


@pytest.mark.parametrize("what", ["version", "file"])
def test_a_token_that_was_cleared_meanwhile_allows_one_upload(services, make_collection, push, upload, once, what):
    collection = make_collection()
    services.token_changes.rotate(once.fingerprint, timedelta())
    services.tokens.clear_expired()

    def send(content):
        return push(collection, content, by=once) if what == "version" else upload(content, by=once)

    send(b"first")
    with pytest.raises(AccessDeniedError):
        send(b"second")


def test_one_of_many_concurrent_uploads_with_a_token_that_was_cleared_meanwhile_succeeds(
    services, upload, once, at_once, keys
):
    services.token_changes.rotate(once.fingerprint, timedelta())
    services.tokens.clear_expired()
    results = at_once(lambda number: upload(f"{number}".encode(), name=f"{number}.txt", by=once), range(8))

    assert (7, 1) == (count(results, AccessDeniedError), len(keys()))


def test_an_administrators_token_is_not_used_up(services, upload, admin):
    sender = services.tokens.identify(admin, address="127.0.0.1", user_agent="")
    upload(b"one", by=sender)

    assert services.tokens.look_up(admin).token == sender.token
