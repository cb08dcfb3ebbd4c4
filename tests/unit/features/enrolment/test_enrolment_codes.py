"""One-time codes: each makes one token, and a lost answer, a crash or a second host with the code make no other one."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db import utc_now
from frepo_core.db.models import EnrolmentCode, Event
from frepo_core.db.types import simulated_time
from frepo_core.domain.identity import new_uuid4
from frepo_core.domain.roles import Role
from frepo_core.errors import EnrolmentCodeError, FieldsError, NotFoundError
from frepo_core.features.enrolment.codes import NewCode
from frepo_core.features.enrolment.feature import EnrolmentServices
from frepo_core.services.upkeep.pruning import prune_codes

pytestmark = pytest.mark.databases
HOST = "192.0.2.7"


@pytest.fixture
def collection(make_collection):
    return make_collection()


@pytest.fixture
def issue(services, collection):
    return lambda **more: services.feature(EnrolmentServices).codes.create(
        NewCode(name="db7", collections=[collection], **more)
    )


@pytest.fixture
def redeem(services):
    return lambda code, token=None: services.feature(EnrolmentServices).redemption.redeem(
        code, token or new_uuid4(), address=HOST
    )


def later(**time):
    return simulated_time(utc_now() + timedelta(**time))


def kinds(services):
    with services.database.reading() as session:
        return list(session.scalars(select(Event.kind).order_by(Event.id)))


def test_the_same_pair_is_answered_the_same_for_an_hour(services, issue, redeem):
    code, token = issue().code, new_uuid4()
    first = redeem(code, token)

    with later(minutes=59):
        assert first == redeem(code, token)
    with later(minutes=61), pytest.raises(EnrolmentCodeError, match="used already"):
        redeem(code, token)
    with pytest.raises(EnrolmentCodeError, match="used already"):
        redeem(code)
    assert 1 == kinds(services).count("enrolment.used")


def test_a_token_that_was_revoked_is_not_made_again(services, issue, redeem):
    code, token = issue().code, new_uuid4()
    services.token_changes.revoke(redeem(code, token).fingerprint)

    with pytest.raises(EnrolmentCodeError):
        redeem(code, token)


def test_of_many_hosts_with_one_code_one_gets_a_token(issue, redeem, at_once):
    code = issue().code

    results = at_once(lambda _: redeem(code), range(6))

    assert 5 == sum(isinstance(result, EnrolmentCodeError) for result in results), results


def test_of_many_repetitions_of_one_host_all_are_answered(services, issue, redeem, at_once):
    code, token = issue().code, new_uuid4()

    results = at_once(lambda _: redeem(code, token), range(6))

    assert 1 == len({result.fingerprint for result in results}), results
    assert 1 == kinds(services).count("enrolment.used")


def test_a_code_ends_after_seven_days_and_is_forgotten_later(services, issue, redeem):
    issued = issue()
    with later(days=6, hours=23):
        assert "open" == services.feature(EnrolmentServices).codes.show(issued.record.id).state
    with later(days=7), pytest.raises(EnrolmentCodeError, match="expired"):
        redeem(issued.code)

    for days, deleted in ((36, 0), (38, 1)):
        now = utc_now() + timedelta(days=days)
        assert deleted == prune_codes(services.database, now=now, keep_going=lambda: None)
    with pytest.raises(NotFoundError):
        services.feature(EnrolmentServices).codes.show(issued.record.id)


def test_a_revoked_code_and_one_without_a_collection_make_no_token(services, issue, redeem, collection):
    revoked, orphan = issue(), issue()
    services.feature(EnrolmentServices).codes.revoke(revoked.record.id)
    services.collections.delete(collection, by=None)

    for issued in (revoked, orphan):
        with pytest.raises(EnrolmentCodeError):
            redeem(issued.code)
    assert 1 == kinds(services).count("enrolment.revoked")


def test_an_id_that_a_token_has_does_not_use_the_code_up(issue, redeem, services):
    taken, first, second = new_uuid4(), issue(), issue()
    redeem(first.code, taken)

    with pytest.raises(FieldsError):
        redeem(second.code, taken)
    assert "open" == services.feature(EnrolmentServices).codes.show(second.record.id).state


def test_the_database_does_not_have_the_code(services, issue):
    issued = issue()

    with services.database.reading() as session:
        [row] = session.scalars(select(EnrolmentCode))
        assert issued.code not in repr(vars(row))
    assert 128 == len(issued.code) * 4


def test_the_end_of_the_token_is_that_of_the_code(services, issue, redeem):
    end, token = utc_now() + timedelta(days=30), new_uuid4()

    redeem(issue(token_expires_at=end).code, token)

    assert end == services.tokens.look_up(token).expires_at
    with pytest.raises(FieldsError):
        issue(token_expires_at=utc_now() - timedelta(days=1))


def test_the_open_codes_of_a_token_end_when_its_chain_is_revoked(services, collection, redeem, make_token):
    maker = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    new = NewCode(name="db7", collections=[collection])
    used, code = (services.feature(EnrolmentServices).codes.create(new, by=maker) for _ in range(2))
    other = services.feature(EnrolmentServices).codes.create(new)
    redeem(used.code)
    successor = services.self_rotation.rotate(maker)

    services.token_changes.revoke(successor.new.fingerprint)

    with pytest.raises(EnrolmentCodeError):
        redeem(code.code)
    assert redeem(other.code)
    assert "used" == services.feature(EnrolmentServices).codes.show(used.record.id).state
    assert 1 == kinds(services).count("enrolment.revoked")


def test_a_collection_has_at_most_two_hundred_open_codes(services, issue, redeem):
    first = issue()
    for _ in range(199):
        issue()
    with pytest.raises(FieldsError) as refused:
        issue()

    assert "has 200 open one-time codes" in refused.value.fields["collections"][0]
    redeem(first.code)
    assert issue()
