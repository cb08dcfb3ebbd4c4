"""Collections and tokens that a plug-in sets up in the name of a client: by the rules of the endpoints."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import CollectionSizeBelowNeedError, ReadOnlyError
from frepo_core.plugins import AccessDeniedError, CollectionValues, FieldsError, NotFoundError, TokenValues

from .conftest import told

NIGHTLY = CollectionValues(
    name="db.sql",
    description="The shop",
    labels=["production"],
    max_versions=3,
    max_version_size=1000,
    max_size=3000,
    guards={"min_retention": timedelta(days=2), "on_suspicious": "refuse"},
    expected_every="1d",
    grace="30m",
)


@pytest.fixture
def maker(running, identify):
    """The identity of a token that may create collections, set them up, and make tokens."""
    roles = (Role.CREATE_COLLECTIONS, Role.MODIFY_COLLECTIONS, Role.MANAGE_COLLECTION_TOKENS)
    return identify(running.make_token(*(role.value for role in (*roles, Role.GENERATE_TOKENS))))


def shown(running, collection):
    return running.request("GET", f"/api/v1/collections/{collection}").json


def access(running, collection):
    """Return the fingerprints on the list of a collection."""
    listed = running.request("GET", f"/api/v1/collections/{collection}/access").json["items"]
    return [one["fingerprint"] for one in listed]


def test_a_collection_is_created_as_by_its_endpoint(running, service, maker):
    made = service.create_collection(NIGHTLY, by=maker)

    found = shown(running, made.id)
    event = told(running, "collection.created")
    assert (made.name, made.labels) == ("db.sql", ("production",))
    assert {"versions": 3, "version_size": 1000, "total_size": 3000} == found["limits"]
    assert ("P2D", "refuse", 50) == tuple(
        found["guards"][name] for name in ("min_retention", "on_suspicious", "max_shrink_percent")
    )
    assert ("P1D", "PT30M") == (found["expected_every"], found["grace"])
    assert [maker.fingerprint] == access(running, made.id)
    assert (maker.fingerprint, "192.0.2.7", made.id) == (event["actor"], event["address"], event["collection_id"])


def test_an_edit_changes_only_what_is_given(running, service, maker):
    made = service.create_collection(NIGHTLY, by=maker)

    edited = service.edit_collection(made.id, CollectionValues(max_versions=2, labels=[], grace=""), by=maker)

    found = shown(running, made.id)
    event = told(running, "collection.edited")
    assert ("db.sql", "The shop", ()) == (edited.name, edited.description, edited.labels)
    assert {"versions": 2, "version_size": 1000, "total_size": 3000} == found["limits"]
    assert ("P2D", "P1D") == (found["guards"]["min_retention"], found["expected_every"])
    assert (maker.fingerprint, made.id) == (event["actor"], event["collection_id"])


def test_a_token_is_made_and_may_do_what_its_roles_say_where_it_is_allowed(running, service, maker):
    made = service.create_collection(NIGHTLY, by=maker)

    issued = service.create_token(TokenValues(roles=[Role.UPLOAD_VERSIONS.value], name="shop-db"), by=maker)

    path = f"/repository/collection/{made.id}/backup"
    assert 403 == running.request("POST", path, b"a dump", token=issued.secret).status
    assert [True, False] == [service.allow_token(made.id, issued.fingerprint, by=maker) for _ in range(2)]
    assert 200 == running.request("POST", path, b"a dump", token=issued.secret).status
    created = told(running, "token.created", token=issued.fingerprint)
    granted = told(running, "collection.access_granted", token=issued.fingerprint)
    assert maker.fingerprint == created["actor"]
    assert (maker.fingerprint, made.id) == (granted["actor"], granted["collection_id"])
    assert issued.secret not in repr(issued)


def test_the_restrictions_and_the_end_of_a_token_are_those_that_were_given(running, service, maker):
    end = datetime(2125, 1, 1, tzinfo=UTC)
    values = TokenValues(
        roles=[Role.UPLOAD_ALL.value],
        expires_at=end,
        tags=["logs"],
        mime_types=["text/plain"],
        max_file_size=10,
        user_agents=["curl/*"],
        ip_addresses=["192.0.2.0/24"],
    )

    issued = service.create_token(values, by=maker)

    found = running.request("GET", f"/api/v1/tokens/{issued.fingerprint}").json
    assert end == issued.expires_at
    assert {
        "tags": ["logs"],
        "mime_types": ["text/plain"],
        "max_file_size": 10,
        "user_agents": ["curl/*"],
        "ip_addresses": ["192.0.2.0/24"],
    } == found["restrictions"]
    assert service.create_token(replace(values, expires_at="never"), by=maker).expires_at is None
    assert service.create_token(replace(values, expires_at=None), by=maker).expires_at is not None


def acts(service, collection, by):
    """Return what a plug-in does in the name of a token, as functions."""
    return [
        lambda: service.create_collection(NIGHTLY, by=by),
        lambda: service.edit_collection(collection, CollectionValues(description="mine"), by=by),
        lambda: service.create_token(TokenValues(roles=[Role.UPLOAD_VERSIONS.value]), by=by),
        lambda: service.allow_token(collection, by.fingerprint, by=by),
    ]


def test_each_needs_the_permission_of_its_endpoint(running, service, collection, identify, maker, uploader):
    """A token on the list without the roles, and one with the roles that is not on the list."""
    refused = [*acts(service, collection, uploader), *acts(service, collection, maker)[1::2]]

    for act in refused:
        with pytest.raises(AccessDeniedError):
            act()
    assert "" == shown(running, collection)["description"]
    assert maker.fingerprint not in access(running, collection)


def test_a_revoked_token_sets_nothing_up(running, service, collection, maker):
    running.request("PUT", f"/api/v1/collections/{collection}/access/{maker.fingerprint}")
    running.request("DELETE", f"/api/v1/tokens/{maker.fingerprint}")

    for act in acts(service, collection, maker):
        with pytest.raises(AccessDeniedError):
            act()


def test_values_that_need_a_role_are_refused_without_it(service, maker):
    for values in (replace(NIGHTLY, max_versions=0), replace(NIGHTLY, locked=timedelta(days=1))):
        with pytest.raises(AccessDeniedError):
            service.create_collection(values, by=maker)


def test_all_wrong_values_are_named(running, service, maker):
    wrong = CollectionValues(
        name="a/b",
        description="x" * 1025,
        labels=["a\nb"],
        max_versions=-1,
        max_size=True,
        guards={"max_shrink_percent": 101, "expects_kind": 1, "on_suspicious": "delete", "colour": 1},
        locked=timedelta(),
    )

    with pytest.raises(FieldsError) as found:
        service.create_collection(wrong, by=maker)

    guards = {f"guards.{name}" for name in ("max_shrink_percent", "expects_kind", "on_suspicious", "colour")}
    assert {"name", "description", "labels", "limits.versions", "limits.total_size", "locked", *guards} == set(
        found.value.fields
    )
    with pytest.raises(FieldsError) as found:
        service.create_collection(CollectionValues(), by=maker)
    assert ["name"] == list(found.value.fields)
    with pytest.raises(CollectionSizeBelowNeedError):
        service.create_collection(replace(NIGHTLY, max_versions=4), by=maker)


def test_all_wrong_values_of_a_token_are_named(service, maker):
    wrong = TokenValues(
        roles=["emperor"],
        name="x" * 1000,
        expires_at=datetime(2125, 1, 1),  # what a plug-in may get wrong
        tags=["a b"],
        mime_types=["text"],
        max_file_size=-1,
        user_agents=[""],
        ip_addresses=["somewhere"],
    )

    with pytest.raises(FieldsError) as found:
        service.create_token(wrong, by=maker)

    restrictions = {"tags", "mime_types", "max_file_size", "user_agents", "ip_addresses"}
    assert {"roles", "name", "expires_at", *(f"restrictions.{one}" for one in restrictions)} == set(found.value.fields)
    past = datetime(2020, 1, 1, tzinfo=UTC)
    for values, field in (
        (TokenValues(roles=[]), "roles"),
        (TokenValues(roles="upload.all"), "roles"),
        (TokenValues(roles=["upload.all"], expires_at=past), "expires_at"),
    ):
        with pytest.raises(FieldsError) as found:
            service.create_token(values, by=maker)
        assert [field] == list(found.value.fields)


def test_what_is_not_there_cannot_be_set_up(service, collection, maker):
    made = service.create_collection(NIGHTLY, by=maker)

    with pytest.raises(NotFoundError):
        service.edit_collection("3f1c9a0b7d2e", CollectionValues(), by=maker)
    with pytest.raises(NotFoundError):
        service.allow_token(made.id, "0123456789ab", by=maker)
    with pytest.raises(FieldsError):
        service.allow_token(made.id, "no fingerprint", by=maker)


class TestReadOnly:
    @pytest.fixture
    def settings(self, settings):
        return settings | {"read_only": "true"}

    def test_nothing_is_set_up(self, service, running, identify):
        by = identify(running.admin)

        for act in acts(service, "3f1c9a0b7d2e", by):
            with pytest.raises(ReadOnlyError):
                act()
