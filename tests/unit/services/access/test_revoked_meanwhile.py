"""A token that is revoked during a request."""

import pytest

from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.rows.collection_search import CollectionSearch
from frepo_core.testing.sources import Source

pytestmark = pytest.mark.databases


@pytest.mark.parametrize("simulate", [False, True])
def test_a_token_that_was_revoked_meanwhile_creates_no_collection(services, identify, make_token, simulate):
    token = make_token(Role.CREATE_COLLECTIONS)
    sender = services.tokens.identify(token, address="127.0.0.1", user_agent="")
    admin = identify(Role.ADMINISTRATOR)
    services.tokens.revoke(token, by=admin)

    with pytest.raises(AccessDeniedError):
        services.collections.create(CollectionChange(limits={}, filename="a.txt"), by=sender, simulate=simulate)

    assert [] == list(services.collection_pages.search(CollectionSearch(), by=admin).rows)


@pytest.fixture
def send(push, upload, make_collection):
    """Upload a version or a file while `meanwhile` happens."""

    def send(what, by, meanwhile):
        content = Source(1 << 21, at=1 << 20, do=meanwhile)
        return push(make_collection(), content, by=by) if what == "version" else upload(content, by=by)

    return send


@pytest.mark.parametrize("what", ["version", "file"])
def test_a_token_that_is_revoked_during_its_upload_stores_nothing(services, identify, send, keys, what):
    by = identify(Role.ADMINISTRATOR)

    with pytest.raises(AccessDeniedError):
        send(what, by, lambda: services.token_changes.revoke(by.fingerprint))

    assert [] == keys()
