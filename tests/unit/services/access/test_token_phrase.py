"""The check value of the token phrase, on each database."""

import hashlib
from concurrent.futures import ThreadPoolExecutor

import pytest

from frepo_core.db.models import Installation
from frepo_core.errors import ConfigurationError
from frepo_core.services.access import token_phrase

pytestmark = pytest.mark.databases


@pytest.mark.slow
def test_processes_that_start_at_the_same_time_agree_on_one_value(services):
    def start(_):
        token_phrase.verify(services.database, "one phrase")

    with ThreadPoolExecutor(8) as threads:
        assert [None] * 8 == list(threads.map(start, range(8)))

    token_phrase.verify(services.database, "one phrase")


def test_one_of_two_phrases_at_the_same_time_is_refused(services):
    def start(phrase):
        try:
            token_phrase.verify(services.database, phrase)
        except ConfigurationError:
            return "refused"
        return "started"

    with ThreadPoolExecutor(2) as threads:
        assert ["refused", "started"] == sorted(threads.map(start, ["one", "two"]))


def test_an_accepted_phrase_replaces_the_former_one(services):
    token_phrase.verify(services.database, "one")

    assert token_phrase.accept(services.database, "two") == 0
    token_phrase.verify(services.database, "two")
    with pytest.raises(ConfigurationError, match="secrets:accept-new-phrase"):
        token_phrase.verify(services.database, "one")


@pytest.mark.parametrize("phrase", ["a short one", "5ecre7" * 10 + "abcd", "c0ffee" * 10 + "abcd"])
def test_a_value_that_an_earlier_version_stored_is_accepted(services, phrase):
    salt = "a0" * 16
    stored = hashlib.scrypt(phrase.encode(), salt=salt.encode(), n=1 << 14, r=8, p=1, dklen=32).hex()
    services.database.write(
        lambda session: session.add(Installation(name="token_phrase_check", value=f"{salt}:{stored}"))
    )

    token_phrase.verify(services.database, phrase)
    with pytest.raises(ConfigurationError):
        token_phrase.verify(services.database, "c0ffee" * 10 + "dcba")


def test_a_short_phrase_is_hashed_with_scrypt_and_a_random_one_is_not_read_from_the_value(services):
    for phrase in ("a short one", "c0ffee" * 10 + "abcd"):
        token_phrase.accept(services.database, phrase)
        with services.database.reading() as session:
            salt, _, check = session.get(Installation, "token_phrase_check").value.partition(":")

        scrypt = hashlib.scrypt(phrase.encode(), salt=salt.encode(), n=1 << 14, r=8, p=1, dklen=32).hex()
        assert (check == scrypt) == (phrase == "a short one")
        assert hashlib.sha256(phrase.encode()).hexdigest() != check
