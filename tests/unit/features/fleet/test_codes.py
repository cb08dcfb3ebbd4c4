"""Tokens of a fleet file that hosts make themselves, with one-time codes; and how collections are restore-tested."""

import csv
import json

import pytest
import yaml

from frepo_core import assemble
from frepo_core.features.enrolment.feature import EnrolmentServices
from frepo_core.plugins.registry import PluginRegistry
from unit.cli.conftest import Console, in_process, make_console, new_console  # noqa: F401  # fixtures

FLEET = """
frepo_fleet: 1
tokens:
  db1: {enrol: true, name: db one}
collections:
  shop: {name: shop.sql, tokens: [db1]}
  wiki: {name: wiki.sql, tokens: [db1]}
"""
TESTED = """
frepo_fleet: 1
collections:
  shop:
    name: shop.sql
    restore_tests: {engine: sqlite, assertions: {rows: {question: SELECT count(*) FROM orders, min: 1}}}
"""
TOKEN_ID = "7c0e6a52-93d1-4b7f-8a16-5f0c2d9be417"


@pytest.fixture
def console(make_console):  # noqa: F811
    return make_console()


@pytest.fixture
def apply(console):
    """Apply a file; return what differed."""

    def apply(text, *options):
        (console.folder / "fleet.yaml").write_text(text)
        more = options or ("--codes", "codes.csv", "--yes")
        return json.loads(console.answer("apply", "fleet.yaml", "-f", "json", *more))

    return apply


@pytest.fixture
def codes(console):
    def codes():
        with (console.folder / "codes.csv").open() as file:
            return list(csv.DictReader(file))

    return codes


@pytest.fixture
def redeem(console):
    def redeem(code):
        services = assemble({"app.env": "test"}, console.environment, PluginRegistry.from_entry_points([]))
        try:
            services.feature(EnrolmentServices).redemption.redeem(code, TOKEN_ID, address="10.0.0.1")
        finally:
            services.database.engine.dispose()

    return redeem


def lists(console):
    query = (
        "SELECT c.fleet_key, t.fleet_key FROM collection_token l JOIN collection c ON c.id = l.collection_id "
        "JOIN token t ON t.key = l.token_key ORDER BY 1, 2"
    )
    return console.rows(query)


def test_a_host_makes_its_token_with_the_code_and_nothing_differs_before_and_after(console, apply, codes, redeem):
    assert {("token", "db1", "code"), ("collection", "shop", "new"), ("collection", "wiki", "new")} == {
        (one["Kind"], one["Key"], one["What"]) for one in apply(FLEET)
    }
    [row] = codes()
    assert ("db1", "db one") == (row["Key"], row["Name"])
    assert [] == apply(FLEET)

    redeem(row["Code"])

    assert [("shop", "db1"), ("wiki", "db1")] == lists(console)
    assert [] == apply(FLEET)
    assert [row] == codes()


def test_a_code_that_was_not_used_is_for_the_collections_of_the_file(console, apply, codes, redeem):
    apply(FLEET)
    text = FLEET.replace("{name: wiki.sql, tokens: [db1]}", "{name: wiki.sql, tokens: []}")

    assert [("wiki", "db1", None)] == [(one["Key"], one["Before"], one["After"]) for one in apply(text)]
    assert [] == apply(text)
    redeem(codes()[0]["Code"])
    assert [("shop", "db1")] == lists(console)


def test_a_code_that_was_revoked_does_not_come_back(console, apply, codes, redeem):
    apply(FLEET)
    [(code,)] = console.rows("SELECT id FROM enrolment_code")
    console.answer("enrolment:revoke", code)

    assert ["code"] == [one["What"] for one in apply(FLEET)]

    first, second = codes()
    assert first["Code"] != second["Code"]
    assert [(None,)] == console.rows("SELECT used_at FROM enrolment_code")
    redeem(second["Code"])


def test_a_code_that_the_file_has_and_nobody_made_is_made(console, apply, codes, redeem):
    code = "0123456789abcdef" * 2
    (console.folder / "codes.csv").write_text(f"Key,Name,Code\ndb1,db one,{code}\n")
    apply(FLEET)

    assert [code] == [row["Code"] for row in codes()]
    redeem(code)


def test_a_code_of_a_token_that_is_absent_ends(console, apply):
    apply(FLEET)
    text = FLEET.replace("enrol: true", "enrol: true, state: absent").replace("[db1]", "[]")

    assert ["code"] == [one["What"] for one in apply(text)]
    assert 0 == console.count("enrolment_code")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: db one", "restrictions: {ip_addresses: [10.0.0.0/8]}", "has no restrictions"),
        ("name: db one", "roles: [security.administrator]", "has these roles: collections.list_versions"),
        ("[db1]", "[]", "No collection of this file lists 'db1'"),
    ],
)
def test_what_a_code_cannot_give_is_refused(console, old, new, said):
    (console.folder / "fleet.yaml").write_text(FLEET.replace(old, new))

    assert said in console.refusal("apply", "fleet.yaml", "--codes", "codes.csv", "--yes")
    assert 0 == console.count("collection")


def test_new_codes_need_a_file(console):
    (console.folder / "fleet.yaml").write_text(FLEET)

    assert "--codes" in console.refusal("apply", "fleet.yaml", "--yes")
    assert 0 == console.count("collection")


def test_a_code_is_exported(console, apply):
    apply(FLEET)
    console.answer("apply", "--export", "was.yaml")
    text = (console.folder / "was.yaml").read_text()

    assert {"db1": {"name": "db one", "enrol": True}} == yaml.safe_load(text)["tokens"]
    assert [] == apply(text)


def test_restore_tests_are_chosen_exported_and_checked(console, apply):
    console.environment["RESTORE_TESTS_ENGINES"] = "sqlite"
    apply(TESTED)
    [(engine, assertions)] = console.rows("SELECT engine, assertions FROM restore_choice")
    assert ("sqlite", {"rows"}) == (engine, json.loads(assertions).keys())
    assert [] == apply(TESTED)

    console.answer("apply", "--export", "was.yaml")
    text = (console.folder / "was.yaml").read_text()
    wanted = {"engine": "sqlite", "assertions": {"rows": {"question": "SELECT count(*) FROM orders", "min": 1.0}}}
    assert wanted == yaml.safe_load(text)["collections"]["shop"]["restore_tests"]
    assert [] == apply(text)

    (console.folder / "fleet.yaml").write_text(TESTED.replace("min: 1", "min: 2"))
    drift = console.run("apply", "fleet.yaml", "--check", "-f", "json")
    assert (2, ["restore_tests.assertions"]) == (drift.returncode, [one["What"] for one in json.loads(drift.stdout)])
    (console.folder / "fleet.yaml").write_text(TESTED.replace("engine: sqlite", "engine: oracle"))
    assert "There is no engine 'oracle'" in console.refusal("apply", "fleet.yaml", "--yes")
    ended = apply(f"{TESTED[: TESTED.index('    restore_tests')]}    restore_tests: null\n")
    assert ["restore_tests.engine", "restore_tests.assertions"] == [one["What"] for one in ended]
