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


def test_a_year_has_four_digits(root):
    answer = generate(root, expires="0987-06-05")

    assert answer.json["expires"] == "0987-06-05 00:00:00"


def test_a_token_lives_thirty_minutes_by_default(root):
    for expires in [None, "", "auto", "automatic", "AUTO"]:
        answer = generate(root, expires=expires)

        assert lifetime(answer) == 30, expires


@with_settings(token__expiration_time="+2 hours")
def test_the_default_lifetime_can_be_set(root):
    answer = generate(root)

    assert lifetime(answer) == 120


@with_settings(token__expiration_time="never")
def test_the_default_may_be_never(root):
    answer = generate(root)

    assert answer.json["expires"] is None


def test_a_relative_expiry_counts_from_now(root):
    for expires, minutes in [("+30 minutes", 30), ("+1 hour", 60), ("+2 days", 2880), ("+1 week", 10080)]:
        answer = generate(root, expires=expires)

        assert lifetime(answer) == minutes


@pytest.mark.databases
def test_ten_years_end_on_the_same_day(root):
    answer = generate(root, expires="+10 years")

    assert abs(lifetime(answer) / 60 / 24 - 3652) < 3


def test_tomorrow_is_the_next_midnight(root):
    answer = generate(root, expires="tomorrow")

    assert answer.json["expires"] == f"{datetime.now(UTC).date() + timedelta(days=1)} 00:00:00"


@pytest.mark.databases
def test_never_is_null(root):
    answer = generate(root, expires="never")

    assert answer.json["expires"] is None


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


@pytest.mark.databases
def test_the_expiry_has_no_fractions_of_seconds(root):
    answer = generate(root, expires="+1 hour")

    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", answer.json["expires"])
