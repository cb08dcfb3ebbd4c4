"""A known token that may not upload a version is an event; strangers and other requests leave no trace."""

from io import BytesIO

import pytest
from sqlalchemy import select
from webtest.app import TestRequest

from frepo_core.db.models import Event
from frepo_core.domain.roles import Role
from frepo_core.web.routing.server_hooks import DECISION, Decision
from support.client import COLLECTIONS, Client, with_settings

MIB = 1 << 20
HERE = {"REMOTE_ADDR": "192.0.2.7"}

# A constant, because pytest-xdist compares the names of tests between its processes.
UNKNOWN = "6f3c1c1e-7a35-4c35-9d7c-0f4f1de6f4aa"


@pytest.fixture
def refusals(services):
    def refusals():
        with services.database.reading() as session:
            return session.scalars(select(Event).where(Event.kind == "version.refused")).all()

    return refusals


@pytest.mark.parametrize(
    ("roles", "restrictions"),
    [
        ([Role.UPLOAD_ALL], {}),
        ([Role.UPLOAD_VERSIONS], {}),
        ([Role.ADMINISTRATOR], {"expires": "2001-01-01"}),
        ([Role.ADMINISTRATOR], {"ip_addresses": ["198.51.100.0/24"]}),
        ([Role.ADMINISTRATOR], {"user_agents": ["backup"]}),
    ],
    ids=["without the role", "not on the list", "expired", "other address", "other User-Agent"],
)
def test_a_known_token_that_may_not_upload(services, collection, holder, refusals, roles, restrictions):
    caller = holder(*roles, **restrictions)

    assert 403 == caller.push(collection, environ=HERE).status_int

    (event,) = refusals()
    assert (collection, services.tokens.fingerprint(caller.token), "192.0.2.7", "access_denied") == (
        event.collection_id,
        event.actor,
        event.address,
        event.data["reason"],
    )
    assert event.data["message"].startswith("No access")


def test_a_stranger_leaves_no_event(app, collection, refusals):
    for token in [None, UNKNOWN, "no-uuid"]:
        assert 403 == Client(app, token).push(collection).status_int

        assert [] == refusals(), token


def test_a_collection_that_does_not_exist_has_no_event(collection, holder, refusals):
    for name in [UNKNOWN, "no-uuid"]:
        holder(Role.UPLOAD_ALL).push(name)
        holder(Role.ADMINISTRATOR, expires="2001-01-01").push(name)

        assert [] == refusals(), name


def test_other_requests_are_no_refused_uploads(collection, holder, refusals):
    caller = holder(Role.UPLOAD_ALL)

    assert 403 == caller.get(f"{COLLECTIONS}/{collection}/backup").status_int
    assert 403 == caller.delete(f"{COLLECTIONS}/{collection}").status_int
    assert [] == refusals()


@with_settings(read_only="true")
def test_nothing_is_recorded_in_read_only_mode(services, holder, refusals):
    from frepo_core.services.backups.rows.collection_change import CollectionChange

    collection = services.collections.create(CollectionChange(limits={}, filename="a.sql"), by=None).id

    assert 403 == holder(Role.UPLOAD_ALL).push(collection).status_int
    assert [] == refusals()


def test_a_refusal_before_the_body_arrives_is_recorded_once(app, admin, make_collection, refusals):
    collection = make_collection(maxOneVersionSize="4")
    request = TestRequest.blank(f"{COLLECTIONS}/{collection}/backup", method="POST", headers={"X-Auth-Token": admin})
    request.headers["Content-Length"] = "5"
    decision = request.environ[DECISION] = Decision()

    assert (400, False) == (request.get_response(app.app).status_int, decision.is_made)
    (event,) = refusals()
    assert (5, 1) == (event.data["size"], event.data["count"])


def test_a_body_that_ends_early_is_an_event(services, root, collection):
    """As under a server that calls the application while the body arrives."""
    path = f"/api/v1/collections/{collection}/versions"

    for _ in range(2):
        body = {"wsgi.input": BytesIO(bytes(MIB + 4)), "CONTENT_LENGTH": str(2 * MIB)}
        assert 400 == root.call("POST", path, environ=body).status_int

    with services.database.reading() as session:
        (event,) = session.scalars(select(Event).where(Event.kind == "upload.aborted"))
    assert (collection, services.tokens.fingerprint(root.token)) == (event.collection_id, event.actor)
    assert {"received": MIB, "size": 2 * MIB, "reason": "disconnected", "count": 1} == event.data
