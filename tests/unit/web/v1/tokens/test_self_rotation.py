"""A token replaces itself in /api/v1."""

from datetime import timedelta

from frepo_core.db import utc_now
from frepo_core.db.types import simulated_time
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


def test_a_token_replaces_itself_only_so_often(holder, root):
    """Any token may, and each time writes events. The last successor works, and the same request is still answered."""
    host, own = holder(Role.UPLOAD_VERSIONS), new_uuid4()
    made = [host.post(ROTATE, {}).status_int for _ in range(19)] + [host.post(ROTATE, {"token": own}).status_int]
    events = len(root.get("/api/v1/events", {"limit": 500}).json["items"])

    refused = host.post(ROTATE, {})

    assert {201} == {*made}
    assert (409, "20 times within an hour" in refused.json["detail"]) == (refused.status_int, True)
    assert events == len(root.get("/api/v1/events", {"limit": 500}).json["items"])
    assert 201 == host.post(ROTATE, {"token": own}).status_int
    with simulated_time(utc_now() + timedelta(hours=1, minutes=1)):
        assert 201 == host.post(ROTATE, {}).status_int
