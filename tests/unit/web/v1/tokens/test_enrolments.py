"""One-time codes in /api/v1: who makes and sees them, and what a host that sends one is answered."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db.types import simulated_time
from frepo_core.domain.identity import new_uuid4
from frepo_core.domain.roles import Role
from frepo_core.features.enrolment.feature import EnrolmentServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from support.client import Client, with_settings

ENROLMENTS = "/api/v1/enrolments"
REDEEM = "/api/v1/enrolments:redeem"


@pytest.fixture
def issue(root, collection):
    return lambda name="db7", **more: root.post(ENROLMENTS, {"name": name, "collections": [collection], **more}).json


@pytest.fixture
def redeem(anonymous):
    def redeem(code, token=None, address="192.0.2.7"):
        body = {"code": code, "token": token or new_uuid4()}
        return anonymous.call("POST", REDEEM, json=body, environ={"REMOTE_ADDR": address})

    return redeem


@pytest.mark.costly
@pytest.mark.slow
def test_a_hundred_hosts_enrol_themselves(app, services, redeem):
    hosts, change = [f"db{number}" for number in range(100)], CollectionChange(limits={}, filename="dump.sql")
    invited = {host: services.feature(EnrolmentServices).hosts.invite(host, change) for host in hosts}

    enrolled = {host: redeem(made.code.code) for host, made in invited.items()}

    assert {host: [made.collection.id] for host, made in invited.items()} == {
        host: [one["id"] for one in answer.json["collections"]] for host, answer in enrolled.items()
    }
    assert hosts == [answer.json["name"] for answer in enrolled.values()]
    again = services.feature(EnrolmentServices).hosts.invite("db7", change)
    assert (None, None, enrolled["db7"].json["fingerprint"]) == (again.code, again.open_code, again.fingerprint)


def test_a_code_is_shown_once(issue, root):
    made = issue()

    shown = root.get(f"{ENROLMENTS}/{made['id']}")
    assert made == shown.json | {"code": made["code"]}
    listed = root.get(ENROLMENTS)
    assert [shown.json] == listed.json["items"]
    assert made["code"] not in shown.text + listed.text


def test_a_host_gets_its_token_and_uploads(app, issue, redeem, root, collection):
    token = new_uuid4()

    answer = redeem(issue()["code"], token)

    assert (201, f"http://localhost:80/api/v1/tokens/{answer.json['fingerprint']}") == (
        answer.status_int,
        answer.headers["Location"],
    )
    assert [collection] == [one["id"] for one in answer.json["collections"]]
    host = Client(app, token)
    assert 201 == host.call("PUT", f"/api/v1/collections/{collection}/versions", body=b"dump").status_int
    assert 403 == host.delete(f"/api/v1/collections/{collection}/versions/v1").status_int
    made_by = root.get(f"/api/v1/tokens/{answer.json['fingerprint']}").json["created_by"]
    assert root.get("/api/v1").json["token"]["fingerprint"] == made_by


def test_a_repeated_request_is_answered_the_same_and_another_host_is_refused(issue, redeem):
    code, token = issue()["code"], new_uuid4()
    first = redeem(code, token)

    assert (first.status_int, first.json) == (redeem(code, token).status_int, redeem(code, token).json)
    other = redeem(code)
    assert (410, 4100) == (other.status_int, other.json["code"])
    assert code not in other.text


@with_settings(password__attempts="3")
def test_wrong_codes_count_like_wrong_passwords(issue, redeem):
    code = issue()["code"]
    assert [410] * 3 == [redeem(f"{number:032x}").status_int for number in range(3)]

    refused = redeem(code)

    assert (429, 4290) == (refused.status_int, refused.json["code"])
    assert int(refused.headers["Retry-After"]) > 0
    assert "Too many wrong codes" in refused.json["detail"]
    assert 201 == redeem(code, address="198.51.100.9").status_int


def test_all_wrong_fields_are_named(root, redeem, anonymous):
    wrong = root.post(ENROLMENTS, {"name": "", "collections": []})
    unknown = root.post(ENROLMENTS, {"name": "db7", "collections": [new_uuid4()]})

    assert {"name", "collections"} == {one["field"] for one in wrong.json["errors"]}
    assert ["collections"] == [one["field"] for one in unknown.json["errors"]]
    assert 400 == redeem("x", "not an id").status_int


def test_who_may_not_change_the_list_of_a_collection_makes_no_code_for_it(holder, root, collection, make_collection):
    roles = (Role.GENERATE_TOKENS, Role.LIST_TOKENS, Role.REVOKE_TOKENS)
    outside, inside = holder(*roles, Role.MANAGE_COLLECTION_TOKENS), holder(*roles)
    fingerprint = inside.get("/api/v1").json["token"]["fingerprint"]
    root.call("PUT", f"/api/v1/collections/{collection}/access/{fingerprint}")
    body = {"name": "db7", "collections": [collection]}

    assert [400, 403] == [client.post(ENROLMENTS, body).status_int for client in (outside, inside)]

    made = root.post(ENROLMENTS, body).json
    other = root.post(ENROLMENTS, {"name": "db8", "collections": [make_collection()]}).json
    assert [[], [made["id"]], [other["id"], made["id"]]] == [
        [one["id"] for one in client.get(ENROLMENTS).json["items"]] for client in (outside, inside, root)
    ]
    where = f"{ENROLMENTS}/{made['id']}"
    assert [404, 204, 404] == [client.delete(where).status_int for client in (outside, inside, inside)]


@pytest.fixture
def helper(holder, root, collection):
    """A token that makes codes for the collection, and its fingerprint."""
    client = holder(Role.GENERATE_TOKENS, Role.MANAGE_COLLECTION_TOKENS)
    fingerprint = client.get("/api/v1").json["token"]["fingerprint"]
    root.call("PUT", f"/api/v1/collections/{collection}/access/{fingerprint}")
    return client, fingerprint


@pytest.mark.parametrize(
    ("method", "where", "body"),
    [
        ("DELETE", "/api/v1/collections/{collection}/access/{fingerprint}", None),
        ("DELETE", "/repository/collection/{collection}/token/{secret}", None),
        ("POST", "/api/v1/tokens/{fingerprint}/rotate", {"overlap": "PT0S"}),
        ("PATCH", "/api/v1/tokens/{fingerprint}", {"expires_at": "{soon}"}),
        ("DELETE", "/api/v1/tokens/{fingerprint}", None),
    ],
)
@pytest.mark.parametrize("is_by_successor", [False, True])
def test_a_code_ends_with_the_right_of_who_has_made_it(
    app, root, helper, redeem, collection, method, where, body, is_by_successor
):
    client, fingerprint = helper
    maker = Client(app, client.post("/api/v1/tokens/self/rotate", {}).json["secret"]) if is_by_successor else client
    made = maker.post(ENROLMENTS, {"name": "db7", "collections": [collection]}).json
    soon = datetime.now(UTC) + timedelta(hours=1)
    values = {"collection": collection, "fingerprint": fingerprint, "secret": client.token, "soon": soon.isoformat()}
    sent = {name: text.format_map(values) for name, text in body.items()} if body else None

    assert root.call(method, where.format_map(values), json=sent).status_int < 300

    with simulated_time(soon + timedelta(minutes=1)):
        assert 410 == redeem(made["code"]).status_int


def test_a_code_for_another_collection_stays(root, helper, redeem, collection, make_collection):
    client, fingerprint = helper
    other = make_collection()
    root.call("PUT", f"/api/v1/collections/{other}/access/{fingerprint}")
    made = client.post(ENROLMENTS, {"name": "db7", "collections": [collection, other]}).json

    root.delete(f"/api/v1/collections/{collection}/access/{fingerprint}")

    assert [other] == [one["id"] for one in redeem(made["code"]).json["collections"]]
