"""Editing, rotating and revoking tokens by their fingerprints: rights, events, races."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event, Token
from frepo_core.domain.roles import Role
from frepo_core.errors import FieldsError, NotFoundError
from frepo_core.services.access.token_changes import Rotation
from frepo_core.services.backups.collections.collections import CollectionChange

DAY = timedelta(days=1)
MANAGER = (Role.GENERATE_TOKENS, Role.REVOKE_TOKENS, Role.VIEW_ALL_COLLECTIONS)


@pytest.fixture
def token(services, make_token):
    restrictions = {"tags": ["a"], "user_agents": ["secret-agent/*"], "max_file_size": 9}
    return services.tokens.look_up(make_token(Role.UPLOAD_ALL, name="db7", **restrictions))


@pytest.fixture
def edit(services, token):
    return lambda **values: services.token_changes.edit(token.fingerprint, values)


@pytest.fixture
def data(services):
    """Return the data of the last event of a kind, and the token that it is about."""

    def data(kind):
        with services.database.reading() as session:
            found = session.scalars(select(Event).where(Event.kind == kind).order_by(Event.id.desc()).limit(1)).one()
            return found.token, found.data

    return data


@pytest.fixture
def listing(services):
    """Make a collection that lists these tokens; return its id."""

    def listing(*tokens):
        made = services.collections.create(CollectionChange(limits={}, filename="dump.sql"), by=None).id
        for token in tokens:
            services.token_lists.allow(made, token.token)
        return made

    return listing


@pytest.mark.databases
def test_an_edit_has_an_event_with_the_changed_values(edit, token, data):
    edit(name="db8", expires_at=datetime(2035, 1, 1, tzinfo=UTC), tags=["a"])

    about, found = data("token.edited")
    assert token.fingerprint == about
    assert {"name": "db7", "expires_at": None, "expires": "never"} == found["before"]
    end = {"expires_at": "2035-01-01T00:00:00+00:00", "expires": "2035-01-01 00:00:00+00:00"}
    assert {"name": "db8"} | end == found["after"]


def test_an_event_never_shows_user_agents(edit, data):
    edit(user_agents=["other-agent/*"])

    count = {"user_agents_count": 1, "userAgentsCount": 1}
    assert {"before": count, "after": count} == data("token.edited")[1]


def test_an_edit_that_changes_nothing_is_no_event(services, edit):
    edit(name="db7", tags=["a"], max_file_size=9)

    with services.database.reading() as session:
        assert [] == session.scalars(select(Event).where(Event.kind == "token.edited")).all()


@pytest.mark.databases
def test_a_rotated_token_has_the_same_rights_and_collections(services, token, listing):
    collections = {listing(token), listing(token)}

    done = services.token_changes.rotate(token.fingerprint, DAY)

    new = services.tokens.identify(done.id, address="127.0.0.1", user_agent="secret-agent/1")
    assert token.fingerprint != new.fingerprint
    for name in ("roles", "tags", "mimes", "max_file_size", "user_agents", "ip_addresses", "expires_at", "name"):
        assert getattr(token, name) == getattr(new, name)
    assert collections == {one.id for one in done.new.collections} == {one.id for one in done.old.collections}


def test_a_token_that_ends_before_the_overlap_is_not_prolonged(services, identify):
    token = identify(Role.UPLOAD_ALL, expires="+1 hour")
    done = services.token_changes.rotate(token.fingerprint, DAY)

    assert [token.expires_at] * 2 == [done.ends_at, done.new.expires_at]


@pytest.mark.databases
def test_a_rotation_has_events_about_both_tokens(services, identify, token, listing, data):
    collection, by = listing(token), identify(*MANAGER, name="Ann")
    done = services.token_changes.rotate(token.fingerprint, DAY, by=by)

    about, found = data("token.rotated")
    assert (token.fingerprint, done.new.fingerprint, 1) == (about, found["replaced_by"], found["collections"])
    assert done.ends_at.isoformat() == found["ends_at"]
    assert done.new.fingerprint == data("token.created")[0] == data("collection.access_granted")[0]
    with services.database.reading() as session:
        rows = session.scalars(select(Event).where(Event.actor == by.fingerprint).order_by(Event.id)).all()
    assert [("token.created", None), ("collection.access_granted", collection), ("token.rotated", None)] == [
        (row.kind, row.collection_id) for row in rows
    ]
    assert {"Ann"} == {row.actor_name for row in rows}
    assert done.id not in repr([row.data for row in rows])


def test_an_expired_token_is_not_rotated(services, make_token):
    fingerprint = services.tokens.fingerprint(make_token(Role.UPLOAD_ALL, expires="2001-01-01"))

    with pytest.raises(FieldsError) as refused:
        services.token_changes.rotate(fingerprint, DAY)

    assert ["This token has expired: generate a new one"] == refused.value.fields["fingerprint"]


@pytest.mark.databases
def test_a_token_is_rotated_and_revoked_at_once(services, token, at_once):
    changes = services.token_changes
    both = [lambda: changes.rotate(token.fingerprint, DAY), lambda: changes.revoke(token.fingerprint)]

    rotated, revoked = at_once(lambda attempt: attempt(), both)

    assert isinstance(rotated, Rotation | NotFoundError)
    assert "db7" == revoked.name
    with services.database.reading() as session:
        assert isinstance(rotated, Rotation) == (session.scalar(select(Token.name)) == "db7")
