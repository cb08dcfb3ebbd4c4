"""What somebody else does to a token is done to those that it has made by replacing itself: a thief may hold one."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import Event
from frepo_core.db.types import simulated_time
from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError, TokenReplacedError

pytestmark = pytest.mark.databases
UPLOADER = (Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS)
DAY = timedelta(days=1)


def use(services, token):
    return services.tokens.identify(token, address="192.0.2.7", user_agent="")


@pytest.fixture
def chain(services, make_token, make_collection):
    """The ids of three tokens: the first was stolen, and the thief has replaced it twice. A collection lists all."""
    tokens, collection = [make_token(*UPLOADER, name="db7")], make_collection()
    services.token_lists.allow(collection, services.tokens.key(tokens[0]))
    for _ in range(2):
        tokens.append(services.self_rotation.rotate(use(services, tokens[-1])).id)
    return tokens, collection


@pytest.fixture
def fingerprints(services, chain):
    return [services.tokens.fingerprint(token) for token in chain[0]]


def events(services, kind):
    with services.database.reading() as session:
        return [event.token for event in session.scalars(select(Event).where(Event.kind == kind))]


def test_a_rotation_ends_what_the_token_has_made_by_itself(services, chain, fingerprints):
    done = services.token_changes.rotate(fingerprints[0], timedelta())

    assert tuple(fingerprints[1:]) == done.also_ended
    for token in chain[0]:
        with pytest.raises(AccessDeniedError):
            use(services, token)
    assert use(services, done.id)
    assert sorted(fingerprints[1:]) == sorted(events(services, "token.edited"))


def test_the_overlap_of_a_rotation_holds_for_all(services, chain, fingerprints):
    services.token_changes.rotate(fingerprints[0], 2 * DAY)

    with simulated_time(utc_now() + 1.9 * DAY):
        late = services.self_rotation.rotate(use(services, chain[0][2]))
    with simulated_time(utc_now() + 2.1 * DAY):
        for token in (*chain[0], late.id):
            with pytest.raises(AccessDeniedError):
                use(services, token)


def test_a_restriction_holds_for_what_the_token_has_made_by_itself(services, chain, fingerprints):
    edited = services.token_changes.edit(fingerprints[0], {"ip_addresses": ["198.51.100.0/24"]})

    assert tuple(fingerprints[1:]) == edited.successors
    for token in chain[0]:
        with pytest.raises(AccessDeniedError):
            use(services, token)


def test_an_earlier_end_holds_for_all_and_a_later_one_for_the_token_alone(services, chain, fingerprints):
    end = utc_now().replace(microsecond=0) + 3 * DAY

    services.token_changes.edit(fingerprints[1], {"expires_at": end})
    services.token_changes.edit(fingerprints[0], {"expires_at": end + 100 * DAY})
    services.token_changes.edit(fingerprints[1], {"expires_at": None, "name": "db8"})

    found = [services.token_inventory.show(one, by=None) for one in fingerprints]
    assert [end + 100 * DAY, None, end] == [one.expires_at for one in found]
    assert ["db7", "db8", "db8"] == [one.name for one in found]


def test_a_token_before_the_one_that_is_changed_stays(services, chain, fingerprints):
    services.token_changes.rotate(fingerprints[2], timedelta())

    assert use(services, chain[0][1])


def test_off_a_list_is_what_the_token_has_made_by_itself_too(services, chain, fingerprints):
    tokens, collection = chain

    before = len(services.token_lists.tokens(collection))

    left = services.token_lists.disallow(collection, services.tokens.key(tokens[0]))

    listed = [one.fingerprint for one in services.token_lists.tokens(collection)]
    assert (before - 3, before - 3) == (left, len(listed))
    assert not {*listed} & {*fingerprints}
    assert sorted(fingerprints) == sorted(events(services, "collection.access_revoked"))


def test_there_is_one_event_for_each_token_of_a_chain_that_is_revoked(services, chain, fingerprints):
    services.token_changes.revoke(fingerprints[1])

    assert sorted(fingerprints) == sorted(events(services, "token.revoked"))


def test_each_token_shows_its_chain_in_order(services, chain, fingerprints, make_token):
    alone = services.tokens.fingerprint(make_token(*UPLOADER))

    found = {one: services.token_inventory.show(one, by=None) for one in (*fingerprints, alone)}

    assert [tuple(fingerprints)] * 3 + [()] == [found[one].chain for one in (*fingerprints, alone)]


def test_a_rotation_by_itself_at_once_leaves_no_successor(services, make_token, at_once):
    for _ in range(5):
        token = make_token(*UPLOADER)
        identity = use(services, token)

        at_once(
            lambda number, identity=identity: (
                services.self_rotation.rotate(identity)
                if number
                else services.token_changes.rotate(identity.fingerprint, timedelta())
            ),
            range(4),
        )

        shown = services.token_inventory.show(identity.fingerprint, by=None)
        ends = [services.token_inventory.show(one, by=None).expires_at for one in shown.chain]
        assert all(end is not None and end <= utc_now() for end in [shown.expires_at, *ends])


def test_a_chain_whose_middle_has_ended_is_still_one(services, chain, fingerprints):
    use(services, chain[0][2])
    services.token_changes.edit(fingerprints[0], {"expires_at": None})

    with simulated_time(utc_now() + 8 * DAY):
        assert [fingerprints[1]] == [one for one, _ in services.tokens.clear_expired()]
        assert [fingerprints[0], fingerprints[2]] == list(services.token_inventory.show(fingerprints[0], by=None).chain)
        with pytest.raises(TokenReplacedError):
            services.self_rotation.rotate(use(services, chain[0][0]))
        done = services.token_changes.rotate(fingerprints[0], timedelta())
        with pytest.raises(AccessDeniedError):
            use(services, chain[0][2])

    assert (fingerprints[2],) == done.also_ended
