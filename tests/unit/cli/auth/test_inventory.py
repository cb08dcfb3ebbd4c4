"""The commands of the inventory: which tokens exist, and whose fingerprint is in the log?"""

import json
import re

import pytest

ADMIN = "0e3d3a1c-2f0a-4c59-9d0e-0d5a7c1f2b33"


@pytest.fixture
def make(console):
    """Make a token; return its id and its fingerprint."""

    def make(*options, roles="upload.all"):
        done = console.run("-v", "auth:create-token", "--roles", roles, *options)
        answer = json.loads(done.stdout.partition("Response:\n")[2])
        return answer["tokenId"], answer["fingerprint"]

    return make


@pytest.fixture
def listed(console):
    """Return the rows of `auth:list`."""
    return lambda *options, **more: json.loads(console.answer("auth:list", "-f", "json", *options, **more))


@pytest.fixture
def shown(console):
    """Return the values of `auth:show`."""
    return lambda fingerprint, **more: json.loads(console.answer("auth:show", fingerprint, "-f", "json", **more))


def test_each_token_is_listed_with_name_and_maker(make, listed):
    _, fingerprint = make("--name", "db7")

    (row,) = listed()

    assert (fingerprint, "db7", ["upload.all"], [], None, None) == tuple(
        row[name] for name in ("Fingerprint", "Name", "Roles", "Collections", "Last used", "From")
    )
    assert row["Created by"].startswith("console:")


def test_a_token_is_shown_by_its_name(console, make, shown):
    _, fingerprint = make("--name", "db7")
    make("--name", "db70")
    _, like_a_fingerprint = make("--name", "abcdefabcdef")

    assert [fingerprint, like_a_fingerprint] == [shown(name)["fingerprint"] for name in ("db7", "abcdefabcdef")]


def test_of_several_tokens_with_one_name_none_is_shown(console, make):
    fingerprints = {make("--name", "db7")[1] for _ in range(2)}
    refusal = console.refusal("auth:show", "db7")

    assert "<token>: 2 tokens have this name" in refusal
    assert fingerprints == set(re.findall("[0-9a-f]{12}", refusal))


def test_filters_and_orders(make, listed):
    make("--name", "nights", roles="upload.images")
    make("--name", "photos")

    assert ["nights"] == [row["Name"] for row in listed("--role", "upload.images")]
    assert ["photos"] == [row["Name"] for row in listed("--match", "PHO")]
    assert ["photos", "nights"] == [row["Name"] for row in listed("--sort=-name")]
    assert [] == listed("--unused-since", "1d")


def test_a_wrong_filter_is_refused(console):
    for options, said in [
        (["--role", "upload.everything"], "--role: Please select valid roles; unknown: upload.everything"),
        (["--unused-since", "yesterday"], "--unused-since: 'yesterday' is neither a length of time"),
        (["--collection", "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"], "collection_no_longer_exists"),
    ]:
        console.answer("db:upgrade")

        assert said in console.refusal("auth:list", *options)


def test_a_token_is_shown_by_its_fingerprint(make, shown):
    _, fingerprint = make("--name", "db7", "--tags", "a,b", "--ip-addresses", "10.0.0.0/8", "--expires", "2035-01-02")

    values = shown(fingerprint.upper())

    expected = {"fingerprint": fingerprint, "state": "valid", "name": "db7", "tags": ["a", "b"]}
    expected |= {"ip_addresses": ["10.0.0.0/8"], "collections_count": 0, "last_used_at": None, "setting": None}
    assert expected.items() <= values.items()
    assert (True, None) == (values["created_by"].startswith("console:"), values["created_by_name"])
    assert values["expires_at"].startswith("2035-01-02T00:00:00")


@pytest.fixture
def make_expired(console, make):
    """Make a token whose time is over; return its fingerprint."""

    def make_expired():
        _, fingerprint = make("--expires", "+1 day")
        console.change("UPDATE token SET expires_at = '2001-01-01 00:00:00.000000'")
        return fingerprint

    return make_expired


def test_an_expired_token_is_shown_as_expired(make_expired, shown):
    fingerprint = make_expired()

    assert "expired" == shown(fingerprint)["state"]


def test_a_revoked_token_is_shown_from_the_events(console, make, shown):
    _, fingerprint = make("--name", "db7")
    console.answer("auth:edit", fingerprint, "--name", "db8")
    console.answer("auth:revoke", fingerprint)

    values = shown(fingerprint)

    assert ("revoked", "db8", ["upload.all"]) == (values["state"], values["name"], values["roles"])
    assert values["created_by"] == values["ended_by"]
    assert values["created_at"] < values["ended_at"]


def test_an_expired_token_that_was_removed_is_shown_from_the_events(console, make_expired, shown):
    fingerprint = make_expired()
    console.answer("auth:clear-expired-tokens")

    assert "expired" == shown(fingerprint)["state"]


def test_a_fingerprint_of_no_token_is_not_found(console):
    console.answer("db:upgrade")

    assert "No token has the fingerprint 3f9c2a71d0be" in console.refusal("auth:show", "3f9c2a71d0be")
    assert ADMIN not in console.refusal("auth:show", ADMIN)


def test_the_token_of_the_setting_is_named_as_such(console, listed, shown):
    console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN)
    (row,) = listed(SECURITY_ADMIN_TOKEN=ADMIN)

    assert "security.admin_token" == row["Name"]
    assert "security.admin_token" == shown(row["Fingerprint"], SECURITY_ADMIN_TOKEN=ADMIN)["setting"]
    assert shown(row["Fingerprint"])["setting"] is None


def test_a_missing_token_of_the_setting_is_reported(console):
    console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN)
    [(fingerprint,)] = console.rows("SELECT fingerprint FROM token")
    said = console.answer("auth:revoke", fingerprint, SECURITY_ADMIN_TOKEN=ADMIN)

    done = console.run("auth:list", SECURITY_ADMIN_TOKEN=ADMIN)

    assert "`frepo install` would generate this token again" in said
    assert (0, True) == (done.returncode, "its token does not exist: run `frepo install`" in done.stderr)
