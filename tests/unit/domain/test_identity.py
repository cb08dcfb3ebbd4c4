"""Identities: a token's roles, and the one spelling of its id."""

import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.identity import Identity, new_uuid4, parse_uuid4
from frepo_core.domain.roles import GRANTS, RESTRICTIONS, Role

ROLES = st.frozensets(st.sampled_from(list(Role)))


def holder(roles):
    return Identity(token="0" * 64, fingerprint="0" * 12, roles=frozenset(roles))


@given(ROLES.filter(lambda roles: Role.ADMINISTRATOR not in roles), st.sampled_from(list(Role)))
def test_a_token_holds_only_its_roles(roles, role):
    assert (role in roles) == holder(roles).holds(role)


def test_an_administrator_holds_every_granting_role():
    for role in sorted(GRANTS):
        assert holder({Role.ADMINISTRATOR}).holds(role)


def test_an_administrator_has_only_explicit_restrictions():
    for role in sorted(RESTRICTIONS):
        assert (False, True) == (
            holder({Role.ADMINISTRATOR}).holds(role),
            holder({Role.ADMINISTRATOR, role}).holds(role),
        )


@given(ROLES, ROLES)
def test_one_of_several_is_enough(roles, asked):
    assert any(holder(roles).holds(role) for role in asked) == holder(roles).holds_any(asked)


@given(st.uuids(version=4), st.sampled_from([str.lower, str.upper, str.title]))
def test_an_id_is_read_in_any_case_and_written_in_lower(identifier, spelling):
    assert str(identifier) == parse_uuid4(spelling(str(identifier)))


@given(st.uuids(version=4).map(str), st.sampled_from(["{%s}", "urn:uuid:%s", " %s", "%s ", "%s\n", "%s0"]))
def test_other_spellings_are_refused(identifier, form):
    assert parse_uuid4(form % identifier) is None


@given(st.uuids(version=4))
def test_an_id_without_dashes_is_refused(identifier):
    assert parse_uuid4(identifier.hex) is None


@pytest.mark.parametrize("version", [1, 2, 3, 5])
@given(st.data())
def test_other_versions_are_refused(version, data):
    assert parse_uuid4(str(data.draw(st.uuids(version=version)))) is None


def test_text_that_is_not_a_uuid_is_refused():
    for text in [
        "",
        "token",
        "00000000-0000-0000-0000-000000000000",
        "ffffffff-ffff-ffff-ffff-ffffffffffff",
        "ca6a2635-d2cb-4682-cb81-3879dd0e8a77",  # version 4 of another variant
        "\uff11a6a2635-d2cb-4682-ba81-3879dd0e8a77",
        None,
        7,
    ]:
        assert parse_uuid4(text) is None


def test_new_ids_are_random_uuids_in_their_one_spelling():
    ids = {new_uuid4() for _ in range(100)}

    assert (100, ids, {4}) == (
        len(ids),
        {parse_uuid4(identifier) for identifier in ids},
        {uuid.UUID(identifier).version for identifier in ids},
    )
