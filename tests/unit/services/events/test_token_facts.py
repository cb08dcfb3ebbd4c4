"""Tokens that are made, revoked and expire write their events."""

from frepo_core.domain.roles import Role


def test_a_new_token(make_token, services, events):
    token = make_token(Role.UPLOAD_ALL, user_agents=["backup/*"], max_file_size=9)

    (event,) = events()
    assert ("token.created", services.tokens.fingerprint(token)) == (event.kind, event.token)
    assert event.actor.startswith("console:")
    assert (["upload.all"], 9, 1) == tuple(
        event.data["after"][name] for name in ("roles", "maxAllowedFileSize", "userAgentsCount")
    )


def test_a_token_is_revoked_once(services, sender, make_token, identify, events):
    token = make_token(Role.UPLOAD_ALL)
    known = services.tokens.look_up(token)
    events()
    services.tokens.revoke(token, by=sender)
    services.tokens.look_up = lambda token_id: known  # another request has found it before
    services.tokens.revoke(token, by=sender)

    (event,) = events()
    assert ("token.revoked", known.fingerprint, sender.fingerprint) == (event.kind, event.token, event.actor)
    assert {"roles": ["upload.all"]} == event.data


def test_the_console_revokes_by_fingerprint(services, identify, events):
    fingerprint = identify(Role.UPLOAD_ALL).fingerprint
    events()
    services.token_changes.revoke(fingerprint)

    (event,) = events()
    assert ("token.revoked", fingerprint) == (event.kind, event.token)
    assert event.actor.startswith("console:")


def test_each_expired_token_has_its_event(services, make_token, events):
    expired = [make_token(Role.UPLOAD_ALL, expires=f"200{number}-01-01") for number in (1, 2)]
    make_token(Role.UPLOAD_ALL)
    events()
    services.tokens.clear_expired()

    found = events()
    assert ["token.expired"] * 2 == [event.kind for event in found]
    assert [services.tokens.fingerprint(token) for token in expired] == [event.token for event in found]
    assert {"roles": ["upload.all"], "expires_at": "2001-01-01T00:00:00+00:00", "reason": "time"} == found[0].data


def test_a_token_for_one_upload_ends_with_it(identify, upload, events):
    once = identify(Role.UPLOAD_ALL, Role.UPLOAD_ONCE)
    events()
    upload(b"hello", by=once)

    expired, added = events()
    assert ("token.expired", once.fingerprint, "single upload") == (expired.kind, expired.token, expired.data["reason"])
    assert ("file.added", once.fingerprint) == (added.kind, added.actor)
