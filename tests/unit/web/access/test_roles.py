"""HTTP API, 1.3: every endpoint that is not public, for each role, on and off the collection's list.

`EXAMPLES` has one harmless request for each such endpoint; the expected result is taken from the table that the
security policy itself uses. An endpoint without an example fails the first test.
"""

import pytest
from webtest import TestApp

from frepo_core.domain.permissions import RULES
from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.web import make_app
from support.answers import NOBODY
from support.client import COLLECTIONS, Client
from support.scale import IS_BIG

IN_COLLECTION = COLLECTIONS + "/{collection}"
SIMULATED = {"simulate": "true"}

# No request changes anything: if the policy allows it, it is invalid, finds nothing, or is simulated.
# Placeholders of the path are filled in by name; ID is replaced by the collection's id in a body.
ID = "the collection's id"
EXAMPLES = {
    ("GET", "/version"): {},
    ("POST", "/auth/token/generate"): {"json": {"roles": []}},
    ("GET", "/auth/token/{token}"): {},
    ("DELETE", "/auth/token/{token}"): {},
    ("GET", "/auth/roles"): {},
    ("GET", "/jobs/token/expired/clear"): {},
    ("POST", COLLECTIONS): {"json": {}},
    ("PUT", COLLECTIONS): {"json": {"collection": ID}, "query": SIMULATED},
    ("GET", IN_COLLECTION): {},
    ("DELETE", IN_COLLECTION): {"query": SIMULATED},
    ("POST", IN_COLLECTION + "/token"): {"json": {"token": NOBODY}},
    ("DELETE", IN_COLLECTION + "/token/{token}"): {},
    ("POST", IN_COLLECTION + "/backup"): {},
    ("GET", IN_COLLECTION + "/backup"): {},
    ("GET", IN_COLLECTION + "/backup/{version}"): {},
    ("DELETE", IN_COLLECTION + "/backup/{version}"): {},
    ("POST", IN_COLLECTION + "/version"): {},
    ("GET", IN_COLLECTION + "/version"): {},
    ("GET", IN_COLLECTION + "/version/{version}"): {},
    ("DELETE", IN_COLLECTION + "/version/{version}"): {},
    ("POST", "/repository/{type}/upload"): {},
    ("POST", "/repository/file/{name}"): {},
    ("DELETE", "/repository/file/{name}"): {},
    ("POST", "/repository/{type}/add-by-url"): {"json": {}},
    ("GET", "/repository"): {},
    ("GET", COLLECTIONS): {},
}


class World:
    """A service with a token of each role. The collection `listed[True]` lists them all, `listed[False]` none."""

    def __init__(self, services):
        self.app = TestApp(make_app(services))
        self.endpoints = {
            (endpoint.method, endpoint.path): endpoint
            for endpoint in self.app.app.registry.endpoints
            if endpoint.permission is not None and not endpoint.is_v1
        }
        self.tokens = {role: services.tokens.generate(NewToken(roles=[role], expires="never")).id for role in Role}
        self.identities = {role: services.tokens.look_up(token) for role, token in self.tokens.items()}
        self.listed = {}
        for listed in (True, False):
            change = CollectionChange(limits={}, filename="a.sql")
            self.listed[listed] = services.collections.create(change, by=None).id
        for identity in self.identities.values():
            services.token_lists.allow(self.listed[True], identity.token)

    def allows(self, example, client, *, listed):
        """Send an example; return whether the policy allowed it."""
        method, path = example
        collection = self.listed[listed]
        request = dict(EXAMPLES[example])
        if "json" in request:
            request["json"] = {name: collection if value == ID else value for name, value in request["json"].items()}
        words = {"collection": collection, "token": NOBODY, "version": "v9", "type": "file", "name": "none.txt"}
        return client.call(method, path.format(**words), **request).status_int != 403


@pytest.fixture(scope="module")
def world(tmp_path_factory, open_services):
    folder = tmp_path_factory.mktemp("roles")
    ini = {"app.env": "test", "app.secret": "a secret", "enc.token_phrase": "a phrase"}
    services = open_services(folder, ini | {"fs.local.directory": str(folder / "storage")})
    yield World(services)
    services.database.engine.dispose()


def test_every_endpoint_that_is_not_public_has_an_example(world):
    assert set(world.endpoints) == set(EXAMPLES)


@pytest.mark.slow
def test_a_role_is_allowed_exactly_as_in_the_table(world):
    permissions = {example: world.endpoints[example].permission for example in EXAMPLES}
    # One of those that ask for the same permission; each in the long form.
    for example in EXAMPLES if IS_BIG else {name: one for one, name in permissions.items()}.values():
        for listed in [True, False]:
            rule = RULES[world.endpoints[example].permission]

            let_in = {
                role: world.allows(example, Client(world.app, world.tokens[role]), listed=listed) for role in Role
            }

            assert {role: rule.allows(world.identities[role], listed=listed) for role in Role} == let_in


def test_a_request_without_a_token_is_refused_everywhere(world):
    for example in EXAMPLES:
        assert not world.allows(example, Client(world.app), listed=True), example


def test_every_permission_has_a_rule(world):
    assert {endpoint.permission for endpoint in world.endpoints.values()} <= set(RULES)
