"""The commands that edit, replace and revoke a token by its fingerprint."""

import contextlib
import itertools
import json
import re
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

ADMIN = "0e3d3a1c-2f0a-4c59-9d0e-0d5a7c1f2b33"
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@pytest.fixture
def fingerprint(console):
    """The fingerprint of a token with restrictions."""
    options = ["--name", "db7", "--tags", "a", "--mimes", "image/png", "--user-agent", "curl/*", "--max-file-size", "9"]
    console.answer(
        "auth:create-token", "--roles", "upload.all", *options, "--ip-addresses", "10.0.0.1", "--expires", "never"
    )
    [(fingerprint,)] = console.rows("SELECT fingerprint FROM token")
    return fingerprint


@pytest.fixture
def edit(console, fingerprint):
    return lambda *options: json.loads(console.answer("auth:edit", fingerprint, "-f", "json", *options))


def test_what_is_given_is_edited_and_the_rest_stays(edit):
    shown = edit("--name", "db8", "--expires", "2035-01-02", "--ip-addresses", "10.0.0.0/8")

    assert ("db8", ["10.0.0.0/8"]) == (shown["name"], shown["ip_addresses"])
    assert shown["expires_at"].startswith("2035-01-02")
    assert (["a"], ["image/png"], ["curl/*"], 9) == tuple(
        shown[name] for name in ("tags", "mime_types", "user_agents", "max_file_size")
    )


def test_values_are_cleared(edit):
    shown = edit("--clear", "name,tags,mimes,max-file-size,ip-addresses,user-agent", "--expires", "never")

    assert (None, [], [], 0, [], [], None) == tuple(
        shown[name]
        for name in ("name", "tags", "mime_types", "max_file_size", "ip_addresses", "user_agents", "expires_at")
    )


def test_a_wrong_edit_changes_nothing(console, fingerprint):
    before = console.rows("SELECT * FROM token")
    for options, said in [
        ([], "nothing is to be changed"),
        (["--name", ""], "A token's name has 1 to 128 printable characters"),
        (["--name", "a\nb"], "A token's name has 1 to 128 printable characters"),
        (["--tags", "a b"], "Tag is not valid"),
        (["--mimes", ""], "--mimes: is empty"),
        (["--expires", "yesterday"], "given: 'yesterday'"),
        (["--expires", "2020-01-01"], "--expires: 2020-01-01 00:00:00 UTC is in the past"),
        (["--expires", "-1 day"], "is in the past"),
        (["--clear", "roles"], "'roles' is not one of name, tags"),
        (["--clear", "tags", "--tags", "b"], "tags is given and cleared"),
    ]:
        assert said in console.refusal("auth:edit", fingerprint, *options)
        assert before == console.rows("SELECT * FROM token"), options


def test_a_rotation_prints_the_new_id_only(console, fingerprint):
    token_id = console.answer("auth:rotate", fingerprint, "--overlap", "2d")

    assert UUID4.fullmatch(token_id)
    rows = console.rows("SELECT fingerprint, name, tags, expires_at FROM token ORDER BY created_at")
    assert [fingerprint, "db7", '["a"]'] == list(rows[0][:3])
    assert ("db7", '["a"]', None) == rows[1][1:]
    ends = datetime.fromisoformat(rows[0][3]).replace(tzinfo=UTC)
    assert abs(ends - datetime.now(UTC) - timedelta(days=2)) < timedelta(minutes=1)


def test_a_rotation_is_printed_as_a_record(console, fingerprint):
    done = json.loads(console.answer("auth:rotate", fingerprint, "-f", "json"))

    assert UUID4.fullmatch(done["id"])
    assert [(done["fingerprint"],)] == console.rows("SELECT fingerprint FROM token ORDER BY created_at DESC LIMIT 1")
    assert (fingerprint, None) == (done["replaces"], done["expires_at"])
    ends = datetime.fromisoformat(done["replaced_ends_at"])
    assert abs(ends - datetime.now(UTC) - timedelta(days=1)) < timedelta(minutes=1)


def test_verbose_shows_both_tokens(console, fingerprint):
    done = console.run("-v", "auth:rotate", fingerprint)

    answer = json.loads(done.stdout.partition("Response:\n")[2])
    assert (fingerprint, None) == (answer["replaces"], answer["expires"])
    assert answer["fingerprint"] not in {fingerprint, None}
    assert answer["tokenId"] not in done.stderr


def test_a_wrong_overlap_makes_no_token(console, fingerprint):
    for overlap, said in [
        ("soon", "'soon' is not a duration"),
        ("999d", "must be from 0 to 366 days"),
    ]:
        assert f"--overlap: {said}" in console.refusal("auth:rotate", fingerprint, "--overlap", overlap)
        assert 1 == console.count("token"), overlap


def test_the_token_of_the_setting_is_not_rotated_and_does_not_expire(console):
    console.answer("install", SECURITY_ADMIN_TOKEN=ADMIN)
    [(fingerprint,)] = console.rows("SELECT fingerprint FROM token")

    rotated = console.refusal("auth:rotate", fingerprint, SECURITY_ADMIN_TOKEN=ADMIN)
    edited = console.refusal("auth:edit", fingerprint, "--expires", "+1 day", SECURITY_ADMIN_TOKEN=ADMIN)

    assert "This is the token of security.admin_token: set another id there, run `frepo install`" in rotated
    assert "`frepo install` needs the token of security.admin_token" in edited
    assert 1 == console.count("token")


@pytest.fixture
def chain(console):
    """The fingerprints of three tokens that have replaced each other at their own request, as the API lets them."""
    for _ in range(3):
        console.answer("auth:create-token", "--roles", "upload.all", "--expires", "never")
    rows = console.rows("SELECT fingerprint, key FROM token ORDER BY created_at")
    with contextlib.closing(sqlite3.connect(console.database)) as database:
        for (_, before), (_, key) in itertools.pairwise(rows):
            values = {"first": rows[0][1], "before": before, "key": key}
            database.execute("UPDATE token SET chain_key = :first, replaces_key = :before WHERE key = :key", values)
        database.commit()
    return [shown for shown, _ in rows]


def test_what_ends_with_a_token_is_named(console, chain):
    first, second, third = chain

    rotated = json.loads(console.answer("auth:rotate", second, "-f", "json"))
    shown = json.loads(console.answer("auth:show", first, "-f", "json"))
    said = console.answer("auth:revoke", first)

    assert ([third], [first, second, third]) == (rotated["also_ended"], shown["chain"])
    assert f"So were the tokens of its chain: {second}, {third}" in said
