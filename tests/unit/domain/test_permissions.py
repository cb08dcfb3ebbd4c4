"""Rights that are not in the table of actions; test_roles.py checks the table."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain import permissions
from frepo_core.domain.identity import Identity
from frepo_core.domain.mime_types import BACKUPS, DOCUMENTS, IMAGES, ROLE_TYPES, VIDEOS, is_allowed_by_token
from frepo_core.domain.permissions import may_upload
from frepo_core.domain.roles import Role

TYPES = st.sampled_from(sorted(IMAGES | VIDEOS | DOCUMENTS | BACKUPS | {"text/html", "audio/mpeg", "font/woff2"}))
QUESTIONS = {
    permissions.is_administrator: Role.ADMINISTRATOR,
    permissions.forbids_password: Role.UPLOAD_NO_PASSWORD,
    permissions.enforces_tags: Role.UPLOAD_TOKEN_TAGS,
    lambda holder: holder.ends_with_upload: Role.UPLOAD_ONCE,
}


def holder(*roles, mimes=()):
    return Identity(token="0" * 64, fingerprint="0" * 12, roles=frozenset(roles), mimes=tuple(mimes))


def test_each_right_has_exactly_one_role():
    for question, allowed in QUESTIONS.items():
        assert [allowed] == [role for role in Role if question(holder(role))]


def test_an_unknown_action_is_an_error():
    with pytest.raises(KeyError, match="no_such_action"):
        permissions.allows("no_such_action", holder(Role.ADMINISTRATOR))


def test_no_upload_role_allows_pages_and_programs():
    for mime in ["text/html", "application/xhtml+xml", "application/x-executable"]:
        for role in ROLE_TYPES:
            assert not may_upload(holder(role), mime)


@given(TYPES, st.frozensets(TYPES, min_size=1))
def test_a_tokens_own_list_narrows_even_an_administrator(mime, mimes):
    identity = holder(Role.ADMINISTRATOR, mimes=mimes)

    assert (mime in mimes, mime in mimes) == (may_upload(identity, mime), is_allowed_by_token(identity, mime))
