"""A token replaces itself in /api/v1."""

from frepo_core.domain.identity import new_uuid4
from frepo_core.domain.roles import Role
from support.client import Client

ROTATE = "/api/v1/tokens/self/rotate"


def test_any_token_replaces_itself_and_nobody_else(app, holder, root, anonymous):
    host = holder(Role.UPLOAD_VERSIONS)
    fingerprint = host.get("/api/v1").json["token"]["fingerprint"]

    answer = host.post(ROTATE, {})

    assert (201, fingerprint) == (answer.status_int, answer.json["replaces"])
    successor = Client(app, answer.json["secret"])
    assert answer.json["fingerprint"] == successor.get("/api/v1").json["token"]["fingerprint"]
    assert answer.headers["Location"].endswith(f"/api/v1/tokens/{answer.json['fingerprint']}")
    used = host.post(ROTATE, {})
    assert (409, 4101) == (used.status_int, used.json["code"])
    assert 401 == anonymous.post(ROTATE, {}).status_int

    root.delete(f"/api/v1/tokens/{fingerprint}")
    assert [401, 401] == [client.get("/api/v1").status_int for client in (host, successor)]


def test_a_client_that_gets_no_answer_sends_its_own_id_again(app, holder):
    host, own = holder(Role.UPLOAD_VERSIONS), new_uuid4()

    first, again = host.post(ROTATE, {"token": own}), host.post(ROTATE, {"token": own})

    assert (201, own, first.json) == (again.status_int, again.json["secret"], again.json)
    assert [400, 400] == [host.post(ROTATE, {"token": text}).status_int for text in ("x", host.token)]
    assert 200 == Client(app, own).get("/api/v1").status_int
