"""Tokens in /api/v1: the inventory, and changes by fingerprint."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from support.client import Client

TOKENS = "/api/v1/tokens"
PATCH = {"Content-Type": "application/merge-patch+json"}
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
FREE = {"tags": [], "mime_types": [], "max_file_size": 0, "user_agents": [], "ip_addresses": []}


@pytest.fixture
def create(root):
    """Generate a token; return the answer."""
    return lambda *roles, **more: root.post(TOKENS, {"roles": list(roles or ["upload.all"]), **more})


@pytest.fixture
def made(create):
    """The JSON of a new token that never expires."""
    return create(name="db7", expires_at=None).json


@pytest.fixture
def path(made):
    return f"{TOKENS}/{made['fingerprint']}"


def patch(client, path, body, **headers):
    return client.call("PATCH", path, json=body, headers=PATCH | headers)


def names(answer):
    return [item["name"] for item in answer.json["items"]]


def test_a_new_token_shows_its_secret_once(create, root):
    answer = create("upload.all", name="db7", expires_at="2035-01-02T03:04:05Z", restrictions={"tags": ["Night"]})

    secret = answer.json["secret"]
    where = f"{TOKENS}/{answer.json['fingerprint']}"
    assert (201, f"http://localhost:80{where}") == (answer.status_int, answer.headers["Location"])
    assert UUID4.fullmatch(secret)
    shown = root.get(where)
    assert answer.json == shown.json | {"secret": secret}
    assert answer.headers["ETag"] == shown.headers["ETag"]
    assert secret not in shown.text
    assert secret not in root.get(TOKENS).text


def test_all_values_of_a_token(made, root, path):
    creator = root.get("/api/v1").json["token"]["fingerprint"]
    shown = root.get(path).json

    assert "Z" == shown.pop("created_at")[-1]
    assert shown == {
        "fingerprint": made["fingerprint"],
        "name": "db7",
        "roles": ["upload.all"],
        "restrictions": FREE,
        "expires_at": None,
        "created_by": creator,
        "created_by_name": None,
        "last_used_at": None,
        "last_used_from": None,
        "collections": [],
        "collections_count": 0,
        "setting": None,
        "chain": [],
    }


def test_a_new_token_works_and_knows_its_name(app, made):
    me = Client(app, made["secret"]).get("/api/v1").json["token"]

    assert (made["fingerprint"], "db7") == (me["fingerprint"], me["name"])


def test_without_an_expiry_the_setting_applies(create):
    assert create().json["expires_at"]
    assert create(expires_at=None).json["expires_at"] is None


def test_all_wrong_fields_are_reported(create):
    answer = create(
        "upload.everything", name=" db7", expires_at="soon", restrictions={"ip_addresses": ["here"]}, id="x"
    )

    fields = {problem["field"] for problem in answer.json["errors"]}
    assert 400 == answer.status_int
    assert {"roles.0", "name", "expires_at", "restrictions.ip_addresses.0", "id"} == fields


def test_an_expiry_in_the_past_is_refused(root, create, path):
    made, edited = create(expires_at="2020-01-01T00:00:00Z"), patch(root, path, {"expires_at": "2020-01-01"})

    for answer in (made, edited):
        (problem,) = answer.json["errors"]
        assert (400, "expires_at") == (answer.status_int, problem["field"])
        assert "2020-01-01 00:00:00 UTC is in the past" in problem["message"]
    assert root.get(path).json["expires_at"] is None


def test_a_use_is_shown_after_it_was_written(app, made, root, path, services):
    Client(app, made["secret"]).get("/version", environ={"REMOTE_ADDR": "192.0.2.7"})
    before = root.get(path)
    services.token_uses.flush()
    after = root.get(path)

    assert (None, None) == (before.json["last_used_at"], before.json["last_used_from"])
    assert "192.0.2.7" == after.json["last_used_from"]
    assert before.headers["ETag"] == after.headers["ETag"]


def test_pages_filters_and_orders(create, root):
    for name in ("nights", "photos", "sales"):
        create("upload.images" if name == "photos" else "upload.all", name=name)

    def find(**query):
        return names(root.get(TOKENS, query))

    assert ["photos"] == find(role="upload.images")
    assert ["sales"] == find(q="ALE")
    assert ["sales", "photos", "nights"] == find(sort="-name", limit=3)
    first = root.get(TOKENS, {"sort": "-name", "limit": 2})
    rest = root.get(TOKENS, {"sort": "-name", "limit": 2, "cursor": first.json["next"]})
    # The administrator of the test has no name.
    assert (["sales", "photos"], ["nights", None]) == (names(first), names(rest))
    assert rest.json["next"] is None


def test_tokens_are_found_by_collection_and_by_their_last_use(made, root, collection):
    listed = root.get(TOKENS, {"collection": collection}).json["items"]

    assert [root.get("/api/v1").json["token"]["fingerprint"]] == [token["fingerprint"] for token in listed]
    assert [(collection, 1)] == [(token["collections"][0]["id"], token["collections_count"]) for token in listed]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    assert "db7" in names(root.get(TOKENS, {"unused_since": tomorrow}))
    assert [] == names(root.get(TOKENS, {"unused_since": "2020-01-01T00:00:00Z"}))


def test_a_wrong_parameter_is_refused(root):
    for query in [
        {"role": "boss"},
        {"unused_since": "soon"},
        {"sort": "key"},
        {"limit": 501},
        {"cursor": "x"},
        {"_token": "x"},
    ]:
        answer = root.get(TOKENS, query)

        assert (400, [*query]) == (answer.status_int, [problem["field"] for problem in answer.json["errors"]])


def test_an_edit_keeps_what_is_not_sent(root, path):
    first = patch(root, path, {"name": "db8", "restrictions": {"tags": ["a"], "ip_addresses": ["10.1.2.3/8"]}})
    second = patch(root, path, {"name": None, "expires_at": "2035-01-01", "restrictions": {"max_file_size": 9}})

    assert (200, "db8") == (first.status_int, first.json["name"])
    assert (None, "2035-01-01T00:00:00Z") == (second.json["name"], second.json["expires_at"])
    assert FREE | {"tags": ["a"], "ip_addresses": ["10.0.0.0/8"], "max_file_size": 9} == second.json["restrictions"]


def test_a_stale_etag_changes_nothing(root, path):
    stale = {"If-Match": root.get(path).headers["ETag"]}
    fresh = {"If-Match": patch(root, path, {"name": "db8"}, **stale).headers["ETag"]}

    attempts = [
        patch(root, path, {"name": "db9"}, **stale),
        root.post(f"{path}/rotate", {}, headers=stale),
        root.delete(path, headers=stale),
    ]
    assert [412] * 3 == [attempt.status_int for attempt in attempts]
    assert 204 == root.delete(path, headers=fresh).status_int


def test_other_values_cannot_be_edited(root, path):
    for body in [{"roles": ["upload.all"]}, {"last_used_at": None}, {"fingerprint": "0" * 12}]:
        assert 400 == patch(root, path, body).status_int


def test_a_revoked_token_is_gone(app, made, root, path):
    assert 204 == root.delete(path).status_int
    assert [404, 401] == [root.get(path).status_int, Client(app, made["secret"]).get("/api/v1").status_int]


def test_a_rotation_replaces_a_token_without_a_gap(app, made, root, path, collection):
    root.post(f"/repository/collection/{collection}/token", {"token": made["secret"]})
    answer = root.post(f"{path}/rotate", {"overlap": "P2D"})

    new = answer.json
    assert (201, f"http://localhost:80{TOKENS}/{new['fingerprint']}") == (answer.status_int, answer.headers["Location"])
    assert ("db7", made["fingerprint"], [collection]) == (
        new["name"],
        new["replaces"],
        [one["id"] for one in new["collections"]],
    )
    assert [200, 200] == [Client(app, one["secret"]).get("/api/v1").status_int for one in (made, new)]
    ends = datetime.fromisoformat(new["replaced_ends_at"])
    assert abs(ends - datetime.now(UTC) - timedelta(days=2)) < timedelta(minutes=1)
    assert new["replaced_ends_at"] == root.get(path).json["expires_at"]


def test_the_old_token_is_refused_after_the_overlap(app, made, root, path):
    root.post(f"{path}/rotate", {"overlap": "PT0S"})

    assert 401 == Client(app, made["secret"]).get("/api/v1").status_int


def test_a_wrong_overlap_is_refused(root, path):
    for body in [{"overlap": "P400D"}, {"overlap": "P1M"}, {"overlap": 5}]:
        answer = root.post(f"{path}/rotate", body)

        assert (400, ["overlap"]) == (answer.status_int, [problem["field"] for problem in answer.json["errors"]]), body


def test_changes_need_both_roles(holder, path):
    for missing in [Role.GENERATE_TOKENS, Role.REVOKE_TOKENS]:
        caller = holder(*{Role.GENERATE_TOKENS, Role.REVOKE_TOKENS, Role.LIST_TOKENS} - {missing})

        assert [403, 403] == [patch(caller, path, {}).status_int, caller.post(f"{path}/rotate", {}).status_int], missing


def test_only_an_administrator_changes_an_administrators_token(holder, root):
    path = f"{TOKENS}/{root.get('/api/v1').json['token']['fingerprint']}"
    caller = holder(*set(Role) - {Role.ADMINISTRATOR, Role.UPLOAD_ONCE})

    attempts = [patch(caller, path, {"name": "mine"}), caller.post(f"{path}/rotate", {}), caller.delete(path)]

    assert [403] * 3 == [attempt.status_int for attempt in attempts]
    assert 200 == patch(root, path, {"name": "mine"}).status_int


def test_nobody_sees_a_token_of_collections_that_it_may_not_see(holder, made, path, root, collection):
    root.post(f"/repository/collection/{collection}/token", {"token": made["secret"]})
    watcher = holder(Role.LIST_TOKENS, Role.REVOKE_TOKENS, Role.GENERATE_TOKENS)

    attempts = [watcher.get(path), patch(watcher, path, {}), watcher.post(f"{path}/rotate", {}), watcher.delete(path)]

    assert [404] * 4 == [attempt.status_int for attempt in attempts]
    assert "db7" not in names(watcher.get(TOKENS))
    assert "db7" in names(root.get(TOKENS))


def test_a_secret_in_the_path_is_not_found_and_not_repeated(root, made):
    answer = root.get(f"{TOKENS}/{made['secret']}")

    assert 404 == answer.status_int
    assert made["secret"] not in answer.text


def test_the_name_of_the_actor_stays_in_the_events(app, create, services):
    manager = create("security.generate_tokens", name="Ann").json
    Client(app, manager["secret"]).post(TOKENS, {"roles": ["upload.all"]})

    with services.database.reading() as session:
        last = session.scalars(select(Event).order_by(Event.id.desc()).limit(1)).one()
    assert ("token.created", manager["fingerprint"], "Ann") == (last.kind, last.actor, last.actor_name)
