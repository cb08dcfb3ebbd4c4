"""Each endpoint of /api/v1 for each role, on and off a collection's list.

The requests have an unknown parameter. It is refused (400) after the permission was checked, so nothing is changed.
"""

import re

import pytest
from webtest import TestApp

from frepo_core.domain.permissions import READING, RULES
from frepo_core.domain.roles import Role
from frepo_core.features.assembly import FEATURES
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.web import make_app
from frepo_core.web.v1.endpoints import v1_endpoints
from support.client import Client
from support.scale import IS_BIG

ENDPOINTS = {f"{endpoint.method} {endpoint.path}": endpoint for endpoint in v1_endpoints(FEATURES)}
PUBLIC = {
    *("GET /api/v1/openapi.json", "GET /api/v1/doc", "GET /api/v1/files/{name}/content"),
    "POST /api/v1/enrolments:redeem",
    "GET /api/v1/badges/{subject}/{code}.svg",
}
PROTECTED = sorted(ENDPOINTS.keys() - PUBLIC)
# One endpoint of those that ask for the same permission, on and off the paths of collections; each in the long form.
EXAMPLES = {(ENDPOINTS[name].permission, "{collection}" in name, IS_BIG and name): name for name in PROTECTED}
WORDS = {"fingerprint": "0123456789ab", "selector": "v9", "number": "9"}

# What each endpoint asks for, written down once more: the tests below take it from the endpoints themselves.
ASKED = {
    "aliases.manage": ["GET /aliases", "DELETE /aliases/{alias}", "GET /aliases/{alias}", "PUT /aliases/{alias}"],
    "collection.create": ["POST /collections"],
    "collection.delete": ["DELETE /collections/{collection}"],
    "collection.edit": [
        "PATCH /collections/{collection}",
        "POST /collections/{collection}/move",
        "PATCH /collections/{collection}/restore-test",
        "PUT /collections/{collection}/restore-test",
    ],
    "collection.fetch": [
        "GET /collections/{collection}",
        "GET /collections/{collection}/badge",
        "GET /collections/{collection}/history",
        "GET /collections/{collection}/move",
        "GET /collections/{collection}/restore-test",
        "GET /collections/{collection}/space",
    ],
    "collection.hold": ["PUT /collections/{collection}/hold"],
    "collection.end_hold": ["DELETE /collections/{collection}/hold"],
    "hold.list": ["GET /holds"],
    "collection.list": ["GET /history/arrivals", "GET /history/collections"],
    "collection.list_deleted": ["GET /deleted-collections"],
    "collection.restore": [
        "DELETE /deleted-collections/{deleted}",
        "POST /deleted-collections/{deleted}/restore",
        "GET /deleted-collections/{deleted}/trash/{number}/content",
    ],
    "collection.tokens": [
        "GET /collections/{collection}/access",
        "DELETE /collections/{collection}/access/{fingerprint}",
        "PUT /collections/{collection}/access/{fingerprint}",
    ],
    "events.view": ["GET /events", "GET /events.csv", "GET /events.jsonl"],
    "file.list": ["GET /files"],
    "file.overwrite": ["PATCH /files/{name}"],
    "file.upload": ["POST /files"],
    "jobs.run": ["POST /jobs/{name}/runs"],
    "jobs.view": ["GET /damage", "GET /health", "GET /jobs", "GET /jobs/{name}/runs", "GET /storages/check"],
    "metrics.view": ["GET /badge", "GET /history", "GET /overview"],
    "pin.list": ["GET /pins"],
    "report.view": [
        *("GET /reports/nights", "GET /reports/nights.csv", "GET /reports/nights.html"),
        *("GET /reports/restores", "GET /reports/restores.csv", "GET /reports/restores.html"),
    ],
    "settings.view": ["GET /plugins", "GET /settings", "GET /storages"],
    "token": [
        *("GET ", "GET /collections", "POST /collections", "GET /expected-times"),  # the second one is :edit
        *("DELETE /files/{name}", "GET /files/{name}", "POST /files/{name}/link"),
        "GET /fleet/schema",
        "POST /tokens/self/rotate",
    ],
    "token.change": ["PATCH /tokens/{fingerprint}", "POST /tokens/{fingerprint}/rotate"],
    "token.generate": ["POST /enrolments", "POST /tokens"],
    "token.list": ["GET /enrolments", "GET /enrolments/{enrolment}", "GET /tokens", "GET /tokens/{fingerprint}"],
    "token.revoke": ["DELETE /enrolments/{enrolment}", "DELETE /tokens/{fingerprint}"],
    "trash.end": ["DELETE /collections/{collection}/trash", "DELETE /collections/{collection}/trash/{number}"],
    "trash.list": ["GET /collections/{collection}/trash", "GET /collections/{collection}/trash/{number}"],
    "trash.read": ["GET /collections/{collection}/trash/{number}/content"],
    "trash.restore": ["POST /collections/{collection}/trash/{number}/restore"],
    "version.delete": ["DELETE /collections/{collection}/versions/{selector}"],
    "version.edit": ["PATCH /collections/{collection}/versions/{selector}"],
    "version.list": [
        "GET /collections/{collection}/checks",
        "POST /collections/{collection}/retention/preview",
        "GET /collections/{collection}/runs",
        "GET /collections/{collection}/versions",
        "GET /collections/{collection}/versions/{selector}",
        "GET /collections/{collection}/versions/{selector}/checks",
        "GET /collections/{collection}/versions/{selector}/content",
        "POST /collections/{collection}/versions/{selector}/link",
    ],
    "version.upload": [
        "POST /collections/{collection}/runs",
        "POST /collections/{collection}/versions",
        "PUT /collections/{collection}/versions",
        "POST /collections/{collection}/versions/{selector}/checks",
    ],
}


class World:
    """A service with a token of each role. The collection `listed[True]` lists them all, `listed[False]` none."""

    def __init__(self, services):
        self.app = TestApp(make_app(services))
        self._statuses = {}
        tokens = {role: services.tokens.generate(NewToken(roles=[role], expires="never")).id for role in Role}
        self.clients = {role: Client(self.app, token) for role, token in tokens.items()}
        self.identities = {role: services.tokens.look_up(token) for role, token in tokens.items()}
        self.listed = {
            listed: services.collections.create(CollectionChange(limits={}, filename="a.sql"), by=None).id
            for listed in (True, False)
        }
        for identity in self.identities.values():
            services.token_lists.allow(self.listed[True], identity.token)

    def answer(self, name, client, *, listed):
        """Return the status of the request. It changes nothing, so the tests share the answers."""
        asked = (name, client.token, listed)
        if asked not in self._statuses:
            self._statuses[asked] = self._send(name, client, listed)
        return self._statuses[asked]

    def _send(self, name, client, listed):
        method, path = name.split(" ")
        words = WORDS | {"collection": self.listed[listed]}
        path = re.sub(r"{(\w+)[^}]*}", lambda match: words.get(match[1], "none"), path)
        return client.call(method, f"{path}?unknown=1").status_int


@pytest.fixture(scope="module")
def world(tmp_path_factory, open_services):
    folder = tmp_path_factory.mktemp("roles")
    ini = {"app.env": "test", "app.secret": "a secret", "enc.token_phrase": "a phrase"}
    services = open_services(folder, ini | {"fs.local.directory": str(folder / "storage")})
    yield World(services)
    services.database.engine.dispose()


def test_no_other_endpoint_is_public():
    assert {name for name, endpoint in ENDPOINTS.items() if endpoint.permission is None} == PUBLIC


def test_each_endpoint_asks_for_its_permission():
    asked = {permission: [] for permission in ASKED}
    for _, endpoint in sorted(ENDPOINTS.items(), key=lambda item: (item[1].path, item[1].method)):
        if endpoint.permission:
            path = re.sub(":[^}]*", "", endpoint.path.removeprefix("/api/v1"))
            asked.setdefault(endpoint.permission, []).append(f"{endpoint.method} {path}")

    assert ASKED == asked


def test_a_role_is_allowed_exactly_as_in_the_table(world):
    for name in EXAMPLES.values():
        rule = RULES[ENDPOINTS[name].permission]
        both = (True, False) if "{collection}" in name else (False,)

        for listed in both:
            found = {role: world.answer(name, client, listed=listed) for role, client in world.clients.items()}
            expected = {
                role: 400 if rule.allows(identity, listed=listed) else 403
                for role, identity in world.identities.items()
            }
            assert expected == found
            assert 400 == found[Role.ADMINISTRATOR]


def permissions_of(world, client, *, listed, on):
    """Return the permissions that endpoints of paths with `on` ask for, and those of them that the token lacks."""
    names = [name for name in PROTECTED if on in name]
    refused = {ENDPOINTS[name].permission for name in names if 403 == world.answer(name, client, listed=listed)}
    return {ENDPOINTS[name].permission for name in names}, refused


@pytest.mark.costly
@pytest.mark.slow
def test_a_collection_says_what_the_token_may_do_there(world):
    for listed in [True, False]:
        shown = 0
        for client in world.clients.values():
            answer = client.call("GET", f"/api/v1/collections/{world.listed[listed]}")
            asked, refused = permissions_of(world, client, listed=listed, on="/collections/{collection}")
            if answer.status_int == 200:
                # No endpoint asks for the lock: it is a field of an edit.
                assert asked - refused == set(answer.json["may"]) - {"collection.lock"}
                shown += 1
            else:
                assert "collection.fetch" in refused
        assert shown == len(Role) if listed else shown == 3  # those that see or change all collections


def test_collections_of_a_list_say_it_as_well(world):
    for role in (Role.ADMINISTRATOR, Role.LIST_COLLECTIONS):
        client = world.clients[role]
        for one in client.call("GET", "/api/v1/collections").json["items"]:
            assert client.call("GET", f"/api/v1/collections/{one['id']}").json["may"] == one["may"]


@pytest.mark.costly
@pytest.mark.slow
def test_the_service_says_what_the_token_may_do_at_all(world):
    for role in Role:
        client = world.clients[role]
        asked, refused = permissions_of(world, client, listed=True, on="")

        assert asked - refused == asked & set(client.call("GET", "/api/v1").json["may"]), role


def test_reading_changes_nothing():
    assert {"token"} == {endpoint.permission for endpoint in ENDPOINTS.values() if endpoint.writes} & READING
    assert READING < set(RULES)


def test_a_request_without_a_token_is_refused(world):
    for name in PROTECTED:
        assert 401 == world.answer(name, Client(world.app), listed=True)
