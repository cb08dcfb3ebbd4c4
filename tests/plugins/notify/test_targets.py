"""The setting `notify.targets`: which lines are targets, and which events each of them gets."""

from datetime import UTC, datetime

import pytest

from frepo_core.plugins import Event
from frepo_notify.targets import PROBLEMS, parse_targets

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="


def event(kind, collection_id=None, **more):
    fields = {"at": datetime(2026, 11, 23, tzinfo=UTC), "actor": "a", "collection_id": collection_id}
    return Event(id=1, position=1, kind=kind, **fields | more)


def test_a_line_is_a_target():
    mail, hook = parse_targets(
        f"""
        mail mailto://user:pass@example.org?to=ops@example.org
        hook https://hooks.example.org/x  secret={SECRET} kinds=version.*,job.failed collections=db-*,web
        """
    )

    assert ("mail", "mailto://user:pass@example.org?to=ops@example.org", PROBLEMS, False) == (
        mail.name,
        mail.url,
        mail.kinds,
        mail.is_webhook,
    )
    assert (("version.*", "job.failed"), ("db-*", "web"), SECRET, True) == (
        hook.kinds,
        hook.collections,
        hook.secret,
        hook.is_webhook,
    )


def test_a_semicolon_between_blanks_separates_targets():
    found = parse_targets("one ntfy://a;b ; two ntfy://c")

    assert [("one", "ntfy://a;b"), ("two", "ntfy://c")] == [(target.name, target.url) for target in found]


def test_neither_the_url_nor_the_secret_is_shown():
    (target,) = parse_targets(f"hook https://example.org/path5ecret secret={SECRET}")

    assert "5ecret" not in repr(target)
    assert SECRET not in repr(target)


def test_an_invalid_line_is_explained_without_its_secrets():
    for line, message in [
        ("https://example.org/p5ecret", "a target begins with its name"),
        ("Ops ntfy://p5ecret", "a target begins with its name"),
        ("ops", "the target 'ops' has no URL"),
        ("ops kinds=job.*", "the target 'ops' has no URL"),
        ("ops ntfy://p5ecret\nops ntfy://x", "'ops' is there twice"),
        (
            "ops ntfy://p5ecret kind=job.*",
            "'kind' is not an option. Options: kinds, collections, labels, secret, summary",
        ),
        ("ops ntfy://p5ecret p5ecret", "a word is not option=value"),
        ("ops ntfy://p5ecret kinds=", "kinds= is empty"),
        ("ops ntfy://p5ecret kinds=versions.*", "no kind of event matches 'versions.*'"),
        ("ops ntfy://p5ecret summary=p5ecret", "summary= is yes or no"),
        (f"ops ntfy://p5ecret secret={SECRET}", "only a webhook"),
        ("ops https://example.org/p5ecret", "a webhook needs secret=whsec_..."),
        ("ops https://example.org/p5ecret secret=p5ecret", "the secret must be whsec_ and 24 to 64 random bytes"),
        ("ops https://example.org/p5ecret secret=whsec_c2hvcnQ=", "the secret must be whsec_ and 24 to 64 random"),
        (f"ops https:///p5ecret secret={SECRET}", "its URL has no host"),
        (f"ops https://example.org:p5ecret/ secret={SECRET}", "its URL is not valid"),
        (f"ops https://user:p5ecret@example.org/ secret={SECRET}", "a user and password in the URL"),
    ]:
        with pytest.raises(ValueError, match="p5ecret|target") as caught:
            parse_targets(line)

        assert message in str(caught.value)
        assert "p5ecret" not in str(caught.value)
        assert SECRET not in str(caught.value)


def test_by_default_a_target_gets_problems():
    for kind in ["version.refused", "blob.damaged", "storage.full", "job.failed", "collection.overdue"]:
        (target,) = parse_targets("ops ntfy://a")

        assert target.takes(event(kind))
        assert not target.takes(event("version.added"))


def test_by_default_a_target_gets_checks_that_found_a_version_broken_and_no_others():
    (target,) = parse_targets("ops ntfy://a")

    assert "version.checked" in target.event_kinds
    assert target.takes(event("version.checked", data={"outcome": "broken"}))
    assert not target.takes(event("version.checked", data={"outcome": "good"}))


def test_a_target_gets_the_collections_that_it_names_by_id_or_name():
    (target,) = parse_targets("ops ntfy://a kinds=* collections=db-*,0f1e*")

    assert target.takes(event("version.added", "5a"), "db-main.sql")
    assert target.takes(event("version.added", "0f1e2d"), "web.tar")
    assert not target.takes(event("version.added", "5a"), "web.tar")
    assert target.takes(event("job.failed"))


def test_a_target_gets_the_collections_that_have_one_of_its_labels():
    (target,) = parse_targets("ops ntfy://a kinds=* labels=warsaw,db-* collections=*.sql")

    assert target.takes(event("version.added", "5a"), "a.sql", ("production", "warsaw"))
    assert target.takes(event("version.added", "5a"), "a.sql", ("db-7",))
    assert not target.takes(event("version.added", "5a"), "a.sql", ("production",))
    assert not target.takes(event("version.added", "5a"), "a.tar", ("warsaw",))
    assert target.takes(event("job.failed"))
