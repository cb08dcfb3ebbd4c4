"""A request whose token expires while it waits for the database."""

from datetime import timedelta

from frepo_core.db import utc_now
from frepo_core.domain.roles import Role
from frepo_core.services.access import tokens


def test_the_expiry_counts_when_the_request_began(services, make_token, monkeypatch):
    token, waited = make_token(Role.UPLOAD_ALL, expires="+1 day"), [timedelta()]
    fetch = services.tokens._fetch

    def fetch_late(token_id):
        waited[0] = timedelta(days=2)
        return fetch(token_id)

    monkeypatch.setattr(tokens, "utc_now", lambda: utc_now() + waited[0])
    monkeypatch.setattr(services.tokens, "_fetch", fetch_late)
    assert Role.UPLOAD_ALL in services.tokens.identify(token, address="127.0.0.1", user_agent="").roles
