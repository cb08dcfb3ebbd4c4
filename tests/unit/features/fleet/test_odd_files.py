"""`frepo apply` with odd files, and with secrets that were used before: a plain refusal, and no secret comes back."""

import csv
import json
import os

import pytest

from unit.cli.conftest import Console, in_process, make_console, new_console  # noqa: F401  # fixtures

ROLES = "roles: [collections.upload_to_allowed_collections]"
ONE = f"frepo_fleet: 1\ntokens:\n  db1: {{{ROLES}}}\ncollections:\n  shop: {{name: shop.sql, tokens: [db1]}}\n"
SECRETS = ("--secrets", "secrets.csv", "--yes")
AN_ID = "7c0e6a52-93d1-4b7f-8a16-5f0c2d9be417"
FILLED = {
    "collections": "collections: {shop: {name: shop.sql, description: a, labels: [z], grace: PT2H, "
    "expected_every: P1D, trash_keep: P3D, compact_group: g, "
    "limits: {versions: 5}, strategy: keep, strategy_options: {daily: 3}}}",
    "tokens": f"tokens: {{a: {{{ROLES}, name: b, expires_at: 2098-01-01, restrictions: "
    "{tags: [x], max_file_size: 7, ip_addresses: [10.0.0.9], user_agents: [b], mime_types: [text/html]}}}",
}
ODD = {
    "digits": "frepo_fleet: " + "9" * 5000,
    "int": "frepo_fleet: !!int abc",
    "empty int": 'frepo_fleet: !!int ""',
    "float": "frepo_fleet: !!float abc",
    "bool": "frepo_fleet: !!bool abc",
    "mapping of a list": "frepo_fleet: !!map [a]",
    "mapping of a text": "frepo_fleet: !!map a",
    "deep": "frepo_fleet: " + "[" * 3000,
    "a list as key": "{? [] : 1, '[]': 2}",
    "NUL": 'frepo_fleet: 1\ncollections: {a: {name: a.sql, hold: {reason: "a\\0b"}}}',
    "half of a pair": 'frepo_fleet: 1\ncollections: {a: {name: a.sql, hold: {reason: "a\\ud800b"}}}',
    "aliases of options": "frepo_fleet: 1\ncollections:\n  a:\n    name: a.sql\n    strategy_options:\n"
    "      a0: &a0 [1]\n" + "".join(f"      a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12)),
    "options in a circle": "frepo_fleet: 1\ncollections: {a: {name: a.sql, strategy_options: &o {a: *o}}}",
}


@pytest.fixture
def console(make_console):  # noqa: F811
    return make_console()


@pytest.fixture
def write(console):
    def write(text):
        (console.folder / "fleet.yaml").write_text(text)

    return write


def secrets(console):
    with (console.folder / "secrets.csv").open() as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("text", ODD.values(), ids=ODD.keys())
def test_an_odd_file_is_refused_in_plain_words(console, write, text):
    write(text)

    assert "<file>" in console.refusal("apply", "fleet.yaml", "--yes")
    assert 0 == console.count("collection")


def test_a_merged_mapping_that_is_used_twice_is_no_repeated_key(console, write):
    write("frepo_fleet: 1\ncollections:\n  a: {<<: {<<: &b {<<: {name: a.sql}, name: b.sql}}}\n  b: *b\n")
    console.answer("apply", "fleet.yaml", "--yes")

    assert 2 == console.count("collection")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"collections: {{a: {{name: a.sql, id: {AN_ID}}}, b: {{name: b.sql, id: {AN_ID}}}}}", "collections.b"),
        (f"tokens: {{a: {{{ROLES}, restrictions: null}}}}", "tokens.a.restrictions"),
        (f"tokens: {{a: {{{ROLES}, restrictions: {{tags: null}}}}}}", "tokens.a.restrictions.tags"),
    ],
    ids=["one id twice", "no restrictions", "no tags"],
)
def test_what_cannot_be_done_ends_the_run_before_its_first_change(console, write, text, said):
    write(f"frepo_fleet: 1\n{text}\n")

    assert said in console.refusal("apply", "fleet.yaml", *SECRETS)
    assert 0 == console.count("collection") == console.count("token")


def test_two_keys_do_not_take_one_collection_or_one_token(console, write):
    console.answer("backup:create-collection", "--filename", "a.sql", "--token-name", "host a")
    [(collection,)] = console.rows("SELECT id FROM collection")
    [(token,)] = console.rows("SELECT fingerprint FROM token")
    for text, said in [
        (f"collections: {{a: {{id: {collection}}}, b: {{id: {collection.upper()}}}}}", "collections.b"),
        (f"tokens: {{a: {{fingerprint: {token}}}, b: {{fingerprint: {token}}}}}", "tokens.b"),
    ]:
        write(f"frepo_fleet: 1\n{text}\n")
        assert said in console.refusal("apply", "fleet.yaml", *SECRETS)
    assert [(None,)] == console.rows("SELECT fleet_key FROM collection")
    assert [(None,)] == console.rows("SELECT fleet_key FROM token")


def test_a_secret_that_was_revoked_does_not_come_back(console, write):
    write(ONE)
    console.answer("apply", "fleet.yaml", *SECRETS)
    [leaked] = secrets(console)
    [(fingerprint,)] = console.rows("SELECT fingerprint FROM token")
    console.answer("auth:revoke", fingerprint)
    console.answer("apply", "fleet.yaml", *SECRETS)

    assert 1 == console.count("token")
    assert [(fingerprint,)] != console.rows("SELECT fingerprint FROM token")
    assert leaked in secrets(console)
    assert 2 == len({row["Token"] for row in secrets(console)})


def test_the_token_of_a_setting_on_a_list_is_no_difference(console):
    environment = {"SECURITY_ADMIN_TOKEN": AN_ID}
    console.answer("install", **environment)
    console.answer("backup:create-collection", "--filename", "a.sql", "--token-name", "host a")
    console.answer("backup:grant", "a.sql", AN_ID, **environment)
    console.answer("apply", "--export", "was.yaml", **environment)
    console.answer("apply", "was.yaml", "--yes", **environment)

    assert 0 == console.run("apply", "was.yaml", "--check", **environment).returncode
    assert 2 == console.count("collection_token")


@pytest.mark.parametrize("text", ["Key,Name,Token\ndb1,db1,\n", "Key,Name,Token\ndb1,db1,abc\n"])
def test_a_file_of_secrets_with_another_text_in_place_of_a_token_is_refused(console, write, text):
    write(ONE)
    (console.folder / "secrets.csv").write_text(text)

    assert "--secrets" in console.refusal("apply", "fleet.yaml", *SECRETS)
    assert text == (console.folder / "secrets.csv").read_text()
    assert 0 == console.count("token")


def test_secrets_are_not_written_to_stdout(console, write):
    write(ONE)

    assert "--secrets" in console.refusal("apply", "fleet.yaml", "--secrets", "-", "--yes")
    assert 0 == console.count("token")


def test_a_file_of_secrets_that_another_run_has_changed_is_not_replaced(tmp_path):
    from frepo_core.cli.transfers.secrets_table import SecretsTable
    from frepo_core.errors import FieldsError

    columns, path = ("Key", "Name", "Token"), str(tmp_path / "secrets.csv")
    first, second = SecretsTable(path, columns), SecretsTable(path, columns)
    first.write([{"Key": "a", "Name": "a", "Token": AN_ID}])
    with pytest.raises(FieldsError):
        second.write([{"Key": "b", "Name": "b", "Token": AN_ID}])
    assert ["a"] == [row["Key"] for row in SecretsTable(path, columns).rows]
    assert ["secrets.csv"] == os.listdir(tmp_path)
    assert json.dumps(first.rows)


@pytest.mark.parametrize("is_filled", [False, True], ids=["new", "filled"])
@pytest.mark.parametrize(
    "text",
    [
        "hold: {reason: ' case 4711 '}",
        "description: ' the shop '",
        "description: ''",
        "labels: [b, a]",
        "labels: [a, b, a]",
        "locked: PT0S",
        "locked: null",
        "grace: null",
        "expected_every: PT24H",
        "expected_every: PT0S",
        "trash_keep: PT0S",
        "storage: local",
        "storage: null",
        "mirror: none",
        "compact_group: ' a '",
        "compact_group: ''",
        "limits: {versions: 0, total_size: 0, version_size: 0}",
        "guards: {min_retention: PT168H, max_unchanged: P7D, max_decline_percent: 20}",
        "guards: {min_retention: PT1.5S, max_unchanged: PT1.5S}",
        "expected_every: PT90.5S",
        "strategy_options: null",
        "{strategy: keep, strategy_options: {daily: 14}}",
    ],
)
def test_a_second_run_finds_nothing_however_a_value_is_written(console, write, text, is_filled):
    if is_filled:
        write(f"frepo_fleet: 1\n{FILLED['collections']}\n")
        console.answer("apply", "fleet.yaml", *SECRETS)
    text = text.strip("{}") if text.startswith("{") else text
    write(f"frepo_fleet: 1\ncollections: {{shop: {{name: shop.sql, {text}}}}}\n")
    done = console.run("apply", "fleet.yaml", "--yes")
    if done.returncode:
        assert "<file>" in done.stderr  # it is refused before anything is done
        assert is_filled == console.count("collection")
        return
    again = console.run("apply", "fleet.yaml", "--check")
    assert (0, done.stdout) == (again.returncode, done.stdout), again.stdout


@pytest.mark.parametrize("is_filled", [False, True], ids=["new", "filled"])
@pytest.mark.parametrize(
    "text",
    [
        "name: ' a name '",
        "name: ''",
        "name: null",
        "expires_at: 2099-12-31",
        "expires_at: 2099-12-31T10:00:00.5+02:00",
        "expires_at: null",
        "restrictions: {ip_addresses: [10.0.0.1]}",
        "restrictions: {ip_addresses: ['2001:DB8::0/32', 10.0.0.0/8]}",
        "restrictions: {tags: [b, a, b], mime_types: [Text/Plain], max_file_size: 0}",
        "restrictions: {user_agents: ['*', ' a ']}",
        "restrictions: {}",
    ],
)
def test_a_second_run_finds_nothing_however_a_value_of_a_token_is_written(console, write, text, is_filled):
    if is_filled:
        write(f"frepo_fleet: 1\n{FILLED['tokens']}\n")
        console.answer("apply", "fleet.yaml", *SECRETS)
    write(f"frepo_fleet: 1\ntokens: {{a: {{{ROLES}, {text}}}}}\n")
    done = console.run("apply", "fleet.yaml", *SECRETS)
    if done.returncode:
        assert "<file>" in done.stderr  # it is refused before anything is done
        assert is_filled == console.count("token")
        return
    again = console.run("apply", "fleet.yaml", "--check")
    assert 0 == again.returncode, again.stdout
