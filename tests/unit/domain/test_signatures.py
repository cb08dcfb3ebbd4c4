"""Keyed hashes and digest fields, and the refusal of forged or invalid ones."""

import base64
import contextlib
import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.domain.signatures import (
    CLOCK_SKEW_SECONDS,
    LINK_SECONDS,
    fingerprint,
    link_is_valid,
    parse_content_md5,
    parse_repr_digest,
    repr_digest,
    sign_link,
    token_key,
)

PHRASES = st.text(min_size=1, max_size=40)
NAMES = st.text("abcdefghij0123456789.-_ ", min_size=1, max_size=40)
TIMES = st.integers(0, 2**40)
HELLO = hashlib.sha256(b"hello").hexdigest()
HELLO_FIELD = "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:"


@given(PHRASES, st.uuids(version=4).map(str))
def test_a_token_is_kept_as_an_hmac_whatever_its_case(phrase, token_id):
    expected = hmac.new(phrase.encode(), token_id.encode(), hashlib.sha256).hexdigest()

    assert (expected, expected) == (token_key(phrase, token_id), token_key(phrase, token_id.upper()))


@given(PHRASES, PHRASES, st.uuids(version=4).map(str))
def test_another_phrase_makes_another_key(phrase, other, token_id):
    # HMAC pads short keys with zeros (RFC 2104).
    same = phrase.rstrip("\0") == other.rstrip("\0")

    assert same == (token_key(phrase, token_id) == token_key(other, token_id))


@given(PHRASES, st.uuids(version=4).map(str))
def test_a_fingerprint_shows_neither_id_nor_key(phrase, token_id):
    shown = fingerprint(token_key(phrase, token_id))

    assert (12, False) == (len(shown), shown in token_id or shown in token_key(phrase, token_id))


@given(PHRASES, NAMES, TIMES, st.booleans())
def test_a_signed_link_is_valid_until_it_expires(secret, name, expires, unlocked):
    signature = sign_link(secret, name, expires, unlocked=unlocked)

    def holds(now):
        return link_is_valid(secret, name, expires, signature, now=now, unlocked=unlocked)

    assert (True, False, False) == (holds(expires - 0.001), holds(expires), holds(expires + 1))


@given(PHRASES, NAMES, TIMES, st.booleans())
def test_a_signed_link_with_a_too_late_expiry_is_invalid(secret, name, expires, unlocked):
    signature = sign_link(secret, name, expires, unlocked=unlocked)

    def holds(left):
        return link_is_valid(secret, name, expires, signature, now=expires - left, unlocked=unlocked)

    longest = LINK_SECONDS + CLOCK_SKEW_SECONDS
    assert (True, False) == (holds(longest), holds(longest + 1))


@given(PHRASES, NAMES, TIMES, st.booleans(), st.data())
def test_a_signature_is_valid_for_its_link_only(secret, name, expires, unlocked, data):
    given_for = (secret, name, expires, unlocked)
    used_for = data.draw(st.tuples(PHRASES, NAMES, TIMES, st.booleans()).filter(lambda other: other != given_for))
    signature = sign_link(secret, name, expires, unlocked=unlocked)

    holds = link_is_valid(*used_for[:3], signature, now=used_for[2] - 1, unlocked=used_for[3])

    assert not holds or used_for[0].rstrip("\0") == secret.rstrip("\0")


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_no_signature_causes_an_error(signature):
    assert not link_is_valid("secret", "name", 100, signature, now=1, unlocked=False)


@given(st.binary())
def test_a_digest_field_is_read_back(content):
    digest = hashlib.sha256(content).hexdigest()

    assert digest == parse_repr_digest(repr_digest(digest))


def test_a_digest_field_is_written_as_in_rfc_9530():
    assert repr_digest(HELLO) == HELLO_FIELD


def test_sha_256_is_found_among_others():
    for value in [
        HELLO_FIELD,
        f" {HELLO_FIELD} ",
        HELLO_FIELD.replace("sha-256", "SHA-256"),
        f"sha-512=:AAAA:, {HELLO_FIELD}",
        f"{HELLO_FIELD},md5=::",
        f"id-sha-256=:AAAA:, {HELLO_FIELD}",
    ]:
        assert parse_repr_digest(value) == HELLO


def test_other_algorithms_alone_are_ignored():
    for value in ["sha-512=:AAAA:", "md5=:AAAA:, sha=:AAAA:", "id-" + HELLO_FIELD, "x-" + HELLO_FIELD]:
        assert parse_repr_digest(value) is None


def test_an_invalid_field_is_refused_and_not_ignored():
    for value in [
        "",
        "sha-256",
        "sha-256=",
        "sha-256=::",
        "sha-256=:AAAA:",
        "sha-256=:" + "A" * 88 + ":",
        "sha-256=:====:",
        "sha-256=:!:",
        f"sha-256={HELLO}",
        f"sha-256:{HELLO}",
        f"{HELLO_FIELD};",
        f"{HELLO_FIELD} {HELLO_FIELD}",
        f"{HELLO_FIELD},",
        HELLO_FIELD.replace("=:", "=", 1),
        "\u017fha-256=:AAAA:",
    ]:
        with pytest.raises(ValueError, match="."):
            parse_repr_digest(value)
            pytest.fail(repr(value))


def test_of_two_sha_256_the_last_counts():
    other = base64.b64encode(bytes(32)).decode()

    assert parse_repr_digest(f"sha-256=:{other}:, {HELLO_FIELD}") == HELLO


@given(st.text())
def test_any_text_is_a_field_or_a_value_error(value):
    with contextlib.suppress(ValueError):
        assert parse_repr_digest(value) is None or len(parse_repr_digest(value)) == 64


@given(st.binary())
def test_content_md5_is_read(content):
    digest = hashlib.md5(content)

    assert digest.hexdigest() == parse_content_md5(base64.b64encode(digest.digest()).decode())


def test_other_content_md5_is_refused():
    for value in ["", "AAAA", "no base64", "5d41402abc4b2a76b9719d911017c592", "\u00e4" * 24, "A" * 44]:
        with pytest.raises(ValueError, match="."):
            parse_content_md5(value)
            pytest.fail(repr(value))
