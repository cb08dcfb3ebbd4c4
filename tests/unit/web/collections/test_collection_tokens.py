"""HTTP API, 4.1: allowing tokens in a collection, and taking them off its list."""

from frepo_core.domain.roles import Role
from support.answers import NOBODY
from support.client import COLLECTIONS


def shown(caller, collection):
    return caller.get(f"{COLLECTIONS}/{collection}").json["collection"]


def allow(caller, collection, token, query=()):
    return caller.post(f"{COLLECTIONS}/{collection}/token", {"token": token}, query)


def disallow(caller, collection, token, query=()):
    return caller.delete(f"{COLLECTIONS}/{collection}/token/{token}", query)


def test_an_allowed_token_is_answered_with_its_collection(root, collection, make_token):
    token = make_token()
    answer = allow(root, collection, token.upper())

    assert answer.status_int == 200
    assert answer.json == {
        "status": "OK",
        "http_code": 200,
        "data": {"token": {"id": token}, "collection": shown(root, collection), "tokens_count": 2},
    }


def test_a_removed_token_is_answered_with_its_collection(root, collection, member):
    token = member().token
    answer = disallow(root, collection, token)

    assert answer.status_int == 200
    assert answer.json == {
        "status": "OK",
        "http_code": 200,
        "data": {"token": {"id": token}, "collection": shown(root, collection), "tokens_count": 1},
    }


def test_allowing_or_removing_a_token_twice_succeeds(root, collection, make_token):
    token = make_token()

    answers = [change(root, collection, token) for change in (allow, allow, disallow, disallow)]

    assert [200] * 4 == [answer.status_int for answer in answers]
    assert [2, 2, 1, 1] == [answer.json["data"]["tokens_count"] for answer in answers]


def test_an_allowed_token_has_access_until_it_is_removed(root, collection, holder, member):
    caller = holder(Role.LIST_VERSIONS)
    allow(root, collection, caller.token)
    assert caller.get(f"{COLLECTIONS}/{collection}/backup").status_int == 200

    caller = member(Role.LIST_VERSIONS)
    disallow(root, collection, caller.token)
    assert caller.get(f"{COLLECTIONS}/{collection}/backup").status_int == 403


def test_the_last_token_can_be_removed(root, collection):
    assert disallow(root, collection, root.token).json["data"]["tokens_count"] == 0


def test_an_unknown_token_is_refused(root, collection):
    for token in [NOBODY, "x"]:
        for change in [allow, disallow]:
            answer = change(root, collection, token)

            assert (answer.status_int, answer.json["fields"]) == (400, {"form.token": ["token_not_found"]}), token


def test_the_token_must_be_a_string(root, collection):
    for token in [None, 5, [], {}]:
        answer = allow(root, collection, token)

        assert (answer.status_int, set(answer.json["fields"])) == (400, {"form.token"}), token


def test_a_simulation_counts_and_changes_nothing(root, collection, holder, member):
    stranger, listed = holder(Role.LIST_VERSIONS), member(Role.LIST_VERSIONS)
    for change, caller, count, status in [(allow, stranger, 3, 403), (disallow, listed, 1, 200)]:
        answer = change(root, collection, caller.token, {"simulate": "true"})
        assert answer.json["data"]["tokens_count"] == count
        assert caller.get(f"{COLLECTIONS}/{collection}/backup").status_int == status
