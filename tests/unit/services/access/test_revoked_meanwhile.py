"""A token that is revoked during a request."""

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError
from frepo_core.services.collections.collection_change import CollectionChange
from frepo_core.services.files.listing import CollectionSearch

pytestmark = pytest.mark.databases


@pytest.mark.parametrize("simulate", [False, True])
def test_a_token_that_was_revoked_meanwhile_creates_no_collection(services, identify, make_token, simulate):
    token = make_token(Role.CREATE_COLLECTIONS)
    sender = services.tokens.identify(token, address="127.0.0.1", user_agent="")
    admin = identify(Role.ADMINISTRATOR)
    services.tokens.revoke(token, by=admin)

    with pytest.raises(AccessDeniedError):
        services.collections.create(CollectionChange(limits={}, filename="a.txt"), by=sender, simulate=simulate)

    assert [] == list(services.listing.collections(CollectionSearch(), by=admin).rows)
