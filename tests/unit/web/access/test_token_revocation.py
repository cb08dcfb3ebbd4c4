"""HTTP API, 3: revoking tokens, and clearing expired ones."""

import pytest

from frepo_core.domain.roles import Role
from support.client import COLLECTIONS, Client

GENERATE = "/auth/token/generate"


def generate(caller, *roles, **more):
    return caller.post(GENERATE, {"roles": list(roles or ["upload.all"]), **more})


def look_up(caller, token):
    return caller.get(f"/auth/token/{token}")


@pytest.mark.databases
def test_the_answer_of_a_revocation_shows_the_token(root, make_token):
    token = make_token(expires="2030-01-01")
    answer = root.delete(f"/auth/token/{token}")

    assert (answer.status_int, answer.json) == (
        200,
        {"status": "OK", "tokenId": token, "expires": "2030-01-01 00:00:00", "alsoRevoked": []},
    )


def test_a_token_can_revoke_itself(holder):
    caller = holder(Role.REVOKE_TOKENS)
    assert [caller.delete(f"/auth/token/{caller.token}").status_int for _ in range(2)] == [200, 403]


@pytest.mark.databases
def test_administrators_are_revoked_by_administrators_only(holder, admin, root, make_token):
    assert holder(*set(Role) - {Role.ADMINISTRATOR}).delete(f"/auth/token/{admin}").status_int == 403
    assert root.delete(f"/auth/token/{make_token(Role.ADMINISTRATOR)}").status_int == 200


@pytest.mark.databases
def test_revoking_takes_the_token_off_every_collection(root, member, collection):
    caller = member(Role.LIST_VERSIONS)
    root.delete(f"/auth/token/{caller.token}")
    generate(root, id=caller.token)
    answer = root.post(f"{COLLECTIONS}/{collection}/token", {"token": caller.token})

    assert answer.json["data"]["tokens_count"] == 2


@pytest.mark.databases
def test_a_collection_survives_its_creators_token(app, make_token, root):
    creator = Client(app, make_token(Role.CREATE_COLLECTIONS))
    collection = creator.create().json["collection"]["id"]
    root.delete(f"/auth/token/{creator.token}")

    assert root.get(f"{COLLECTIONS}/{collection}").status_int == 200


@pytest.mark.databases
def test_clearing_removes_the_expired_ones_only(root, make_token):
    gone, stays = make_token(expires="2001-01-01"), make_token(expires="2100-01-01")
    root.get("/jobs/token/expired/clear")

    assert [look_up(root, token).status_int for token in (gone, stays, root.token)] == [404, 200, 200]


@pytest.mark.databases
def test_clearing_reports_fingerprints_and_expiries_and_no_token(root, make_token, services):
    token = make_token(expires="2001-01-01")
    fingerprint = services.tokens.look_up(token).fingerprint
    assert root.get("/jobs/token/expired/clear").json["log"] == [{"id": fingerprint, "date": "2001-01-01 00:00:00"}]

    assert make_token(expires="2001-01-01") not in root.get("/jobs/token/expired/clear").text
    answer = root.get("/jobs/token/expired/clear")
    assert (answer.status_int, set(answer.json), answer.json["log"]) == (200, {"message", "log"}, [])
