"""The service and the console refuse a token phrase that does not match the database, until it is accepted."""

import contextlib
import sqlite3

import pytest

OTHER = {"ENC_TOKEN_PHRASE": "another phrase 5ecre7"}
ADMIN = "0e3d3a1c-2f0a-4c59-9d0e-0d5a7c1f2b33"
COMMANDS = [
    ["auth:generate-admin-token"],
    ["auth:clear-expired-tokens"],
    ["backup:create-collection", "-f", "a"],
    ["storage:verify"],
    ["install"],
]


@pytest.fixture
def used(console):
    """A console whose database has a token."""
    console.answer("auth:generate-admin-token")
    return console


def test_a_command_refuses_another_phrase_and_changes_nothing(used):
    for command in COMMANDS:
        done = used.run(*command, **OTHER, SECURITY_ADMIN_TOKEN=ADMIN)

        assert (done.returncode, used.count("token"), used.count("collection")) == (1, 1, 0)
        assert "enc.token_phrase (ENC_TOKEN_PHRASE) is not the phrase" in done.stderr
        assert "frepo secrets:accept-new-phrase" in done.stderr, command


@pytest.mark.costly
def test_the_service_does_not_start_with_another_phrase(service):
    token = service.admin
    service.stop()
    service.environment |= OTHER

    with pytest.raises(RuntimeError, match=r"frepo cannot start\. enc\.token_phrase \(ENC_TOKEN_PHRASE\) is not"):
        service.start()

    assert token not in service.log.read_text()


def test_a_command_accepts_a_new_phrase(used):
    said = used.answer("secrets:accept-new-phrase", **OTHER)
    used.answer("auth:generate-admin-token", **OTHER)

    assert said == "The phrase is accepted. Of the 1 tokens, those stored with another phrase are invalid"
    assert "is not the phrase" in used.refusal("auth:generate-admin-token")
    assert used.count("token") == 2


def test_accepting_the_known_phrase_changes_nothing(used):
    before = used.rows("SELECT * FROM installation")

    assert used.answer("secrets:accept-new-phrase") == "The phrase is the accepted one already, nothing was changed"
    assert before == used.rows("SELECT * FROM installation")


def test_a_database_without_check_value_gets_one_at_the_first_start_with_a_warning(used):
    with contextlib.closing(sqlite3.connect(used.database)) as connection, connection:
        connection.execute("DELETE FROM installation")

    done = used.run("auth:clear-expired-tokens")

    names = {name for (name,) in used.rows("SELECT name FROM installation")}
    assert (done.returncode, names) == (0, {"id", "token_phrase_check"})
    assert "the 1 existing tokens" in done.stderr
    assert "is not the phrase" in used.refusal("auth:clear-expired-tokens", **OTHER)


def test_the_phrase_is_not_in_the_database(used):
    used.answer("secrets:accept-new-phrase", **OTHER)

    assert OTHER["ENC_TOKEN_PHRASE"].encode() not in used.database.read_bytes()


def test_db_upgrade_accepts_any_phrase(used):
    """A restored database can be upgraded before its secrets are found."""
    assert "is current" in used.answer("db:upgrade", **OTHER)
