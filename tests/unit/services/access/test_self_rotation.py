"""A token replaces itself: a lost answer locks nobody out, and a stolen token cannot outlive its revocation."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import Event, Token
from frepo_core.db.types import simulated_time
from frepo_core.domain.identity import new_uuid4
from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError, FieldsError, TokenReplacedError

pytestmark = pytest.mark.databases
UPLOADER = (Role.UPLOAD_VERSIONS, Role.LIST_VERSIONS)
DAY = timedelta(days=1)


@pytest.fixture
def host(services, make_token, make_collection):
    """The id of the token of a host, which a collection lists, and the collection."""
    token, collection = make_token(*UPLOADER, name="db7"), make_collection()
    services.token_lists.allow(collection, services.tokens.key(token))
    return token, collection


@pytest.fixture
def rotate(services):
    """Replace a token at its own request; return the rotation."""
    return lambda token, new=None: services.self_rotation.rotate(use(services, token), new)


def use(services, token):
    return services.tokens.identify(token, address="192.0.2.7", user_agent="")


def count_tokens(services):
    with services.database.reading() as session:
        return len(session.scalars(select(Token.key)).all())


def test_the_successor_has_the_same_rights_and_the_old_token_ends_after_seven_days(services, host, rotate):
    token, collection = host

    done = rotate(token)

    new, old = use(services, done.id), services.tokens.look_up(token)
    assert (new.roles, new.name, new.expires_at) == (old.roles, old.name, None)
    assert services.token_lists.is_listed(collection, new)
    assert abs(done.ends_at - utc_now() - 7 * DAY) < timedelta(minutes=1)
    with services.database.reading() as session:
        event = session.scalars(select(Event).where(Event.kind == "token.rotated")).one()
    assert (old.fingerprint, old.fingerprint, new.fingerprint) == (event.token, event.actor, event.data["replaced_by"])


def test_the_first_use_of_the_successor_ends_the_old_token_a_day_later(services, host, rotate):
    done, begin = rotate(host[0]), utc_now()

    with simulated_time(begin + 2 * DAY):
        use(services, done.id)
    with simulated_time(begin + 2.5 * DAY):
        use(services, done.id)

    end = services.tokens.look_up(host[0]).expires_at
    assert abs(end - begin - 3 * DAY) < timedelta(minutes=1)


def test_a_lost_answer_locks_nobody_out(services, host, rotate):
    """Whether the client has made the id of the successor itself, or asks for another one."""
    token, own = host[0], new_uuid4()
    lost, repeated = rotate(token, own), rotate(token, own)
    assert (lost.new.fingerprint, lost.ends_at) == (repeated.new.fingerprint, repeated.ends_at)
    assert own == repeated.id

    other = rotate(token)

    with pytest.raises(AccessDeniedError):
        use(services, own)
    assert use(services, other.id).expires_at is None


def test_a_token_has_one_successor(services, host, rotate):
    done = rotate(host[0])
    use(services, done.id)

    with pytest.raises(TokenReplacedError, match=done.new.fingerprint):
        rotate(host[0])
    assert done.new.fingerprint == rotate(host[0], done.id).new.fingerprint


def test_of_many_rotations_at_once_one_successor_stays(services, host, at_once):
    identity, before = use(services, host[0]), count_tokens(services)

    results = at_once(lambda _: services.self_rotation.rotate(identity), range(6))

    assert before + 1 == count_tokens(services), results


def test_the_successor_inherits_the_expiry_and_does_not_extend_it(services, host, rotate):
    end = utc_now().replace(microsecond=0) + 3 * DAY
    services.token_changes.edit(services.tokens.look_up(host[0]).fingerprint, {"expires_at": end})

    first = rotate(host[0])
    second = rotate(host[0])

    assert (end, end, end) == (first.ends_at, first.new.expires_at, second.new.expires_at)


def test_revoking_any_token_of_a_chain_revokes_all(services, make_token, rotate):
    for revoked in range(3):
        chain = [make_token(*UPLOADER)]
        for _ in range(2):
            chain.append(rotate(chain[-1]).id)

        services.token_changes.revoke(services.tokens.look_up(chain[revoked]).fingerprint)

        for token in chain:
            with pytest.raises(AccessDeniedError):
                use(services, token)


def test_a_token_that_an_administrator_has_rotated_begins_another_chain(services, host, rotate):
    own = rotate(host[0])
    handed_out = services.token_changes.rotate(own.new.fingerprint, DAY)

    services.token_changes.revoke(own.new.fingerprint)

    assert use(services, handed_out.id)


def test_a_chain_whose_first_token_was_cleared_is_still_one(services, host, rotate):
    second = rotate(host[0])
    third = rotate(second.id)
    with simulated_time(utc_now() + 6 * DAY):
        services.tokens.clear_expired()

    services.token_changes.revoke(second.new.fingerprint)

    with pytest.raises(AccessDeniedError):
        use(services, third.id)


def test_a_revocation_and_a_rotation_at_once_leave_no_token(services, make_token, at_once):
    for _ in range(5):
        token = make_token(*UPLOADER)
        identity, before = use(services, token), count_tokens(services)

        at_once(
            lambda number, identity=identity: (
                services.self_rotation.rotate(identity)
                if number
                else services.token_changes.revoke(identity.fingerprint)
            ),
            range(4),
        )

        assert before - 1 == count_tokens(services)


def test_a_token_for_one_upload_and_a_taken_id_are_refused(services, make_token, host, rotate):
    once = make_token(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    with pytest.raises(AccessDeniedError):
        rotate(once)
    for wrong in (once, "x"):
        with pytest.raises(FieldsError):
            rotate(host[0], wrong)
    assert services.tokens.look_up(host[0]).expires_at is None


def test_a_chain_has_at_most_twenty_tokens_that_have_not_ended(services, host, rotate):
    token = host[0]
    for _ in range(19):
        token = rotate(token).id
    before = count_tokens(services)

    with pytest.raises(TokenReplacedError, match="20 tokens .* wait until the first of them ends"):
        rotate(token)

    assert before == count_tokens(services)
    with simulated_time(utc_now() + 8 * DAY):
        assert rotate(token).id
