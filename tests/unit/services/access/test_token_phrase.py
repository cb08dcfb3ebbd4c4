"""The check value of the token phrase, on each database."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.services.access import token_phrase

pytestmark = pytest.mark.databases


def test_processes_that_start_at_the_same_time_agree_on_one_value(services):
    def start(_):
        token_phrase.check(services.database, "one phrase")

    with ThreadPoolExecutor(8) as threads:
        assert [None] * 8 == list(threads.map(start, range(8)))

    token_phrase.check(services.database, "one phrase")


def test_one_of_two_phrases_at_the_same_time_is_refused(services):
    def start(phrase):
        try:
            token_phrase.check(services.database, phrase)
        except ConfigurationError:
            return "refused"
        return "started"

    with ThreadPoolExecutor(2) as threads:
        assert ["refused", "started"] == sorted(threads.map(start, ["one", "two"]))


def test_an_accepted_phrase_replaces_the_former_one(services):
    token_phrase.check(services.database, "one")

    assert token_phrase.accept(services.database, "two") == 0
    token_phrase.check(services.database, "two")
    with pytest.raises(ConfigurationError, match="secrets:accept-new-phrase"):
        token_phrase.check(services.database, "one")
