"""HTTP API, 3: the expiry of tokens."""

import re
from datetime import UTC, datetime, timedelta

import pytest

from support.client import with_settings

GENERATE = "/auth/token/generate"
ODD_DATE = {"expires": ["invalid_date_format_and_not_an_expression"]}


def generate(caller, *roles, **more):
    return caller.post(GENERATE, {"roles": list(roles or ["upload.all"]), **more})


def lifetime(answer):
    end = datetime.strptime(answer.json["expires"], "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC)
    return round((end - datetime.now(UTC)) / timedelta(minutes=1))


def test_the_answer_for_a_generated_token_has_its_expiry(root):
    answer = generate(root, expires="2030-01-02")

    assert (answer.status_int, set(answer.json)) == (202, {"tokenId", "fingerprint", "expires"})
    assert answer.json["expires"] == "2030-01-02 00:00:00"


def test_a_token_lives_thirty_minutes_by_default(root):
    for expires in [None, "", "auto", "automatic", "AUTO"]:
        assert lifetime(generate(root, expires=expires)) == 30, expires


@with_settings(token__expiration_time="+2 hours")
def test_the_default_lifetime_can_be_set(root):
    assert lifetime(generate(root)) == 120


@pytest.mark.databases
def test_an_expiry_is_stored_and_answered_without_fractions_of_seconds(root):
    assert abs(lifetime(generate(root, expires="+10 years")) / 60 / 24 - 3652) < 3
    assert generate(root, expires="never").json["expires"] is None
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", generate(root, expires="+1 hour").json["expires"])


def test_an_invalid_expiry_is_refused(root):
    for expires in [
        "soon",
        "2030-13-01",
        "2030-02-30",
        "30.01.2030",
        "+5 parsecs",
        "+9999999 years",
        "+999999 years",
        "1",
        "+",
        "2030",
    ] + ["2030-01-01T00:00:00", "\N{SNOWMAN}", "+1 day and more"]:
        answer = generate(root, expires=expires)

        assert (answer.status_int, answer.json["fields"]) == (400, ODD_DATE), expires
