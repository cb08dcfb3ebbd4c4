"""`frepo apply`: a fleet is what the file says, nothing else changes, and a second run changes nothing."""

import csv
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from unit.cli.conftest import Console, in_process, make_console, new_console  # noqa: F401  # fixtures

FREPO = Path(sys.executable).parent / "frepo"
FLEET = """
frepo_fleet: 1
tokens:
  db1: {roles: [collections.upload_to_allowed_collections, collections.list_versions_for_allowed_collections]}
  reader:
    name: reader of all
    roles: [collections.list_versions_for_allowed_collections]
    expires_at: 2099-12-31
    restrictions: {ip_addresses: [10.0.0.0/8]}
collections:
  shop:
    name: shop.sql
    description: the shop
    labels: [production]
    limits: {versions: 14}
    guards: {max_shrink_percent: 30, min_retention: P7D, on_suspicious: quarantine}
    strategy: keep
    strategy_options: {daily: 14}
    expected_every: P1D
    grace: PT2H
    tokens: [db1, reader]
  wiki:
    name: shop.sql
    tokens: [reader]
    hold: {reason: case 4711}
"""


@pytest.fixture
def console(make_console):  # noqa: F811
    return make_console()


@pytest.fixture
def write(console):
    def write(text):
        (console.folder / "fleet.yaml").write_text(text)

    return write


@pytest.fixture
def apply(console, write):
    """Apply a file; return what differed."""

    def apply(text, *options):
        write(text)
        more = options or ("--secrets", "secrets.csv", "--yes")
        return json.loads(console.answer("apply", "fleet.yaml", "-f", "json", *more))

    return apply


def collections(console):
    names = "id, filename, fleet_key, description, max_backups_count, max_shrink_percent, hold_reason, strategy_options"
    return sorted(console.rows(f"SELECT {names} FROM collection"))


def lists(console):
    query = (
        "SELECT c.fleet_key, t.name FROM collection_token l JOIN collection c ON c.id = l.collection_id "
        "JOIN token t ON t.key = l.token_key ORDER BY 1, 2"
    )
    return console.rows(query)


def whole(console):
    """Return all that a run may change, without what each run writes anew."""
    tokens = console.rows("SELECT fleet_key, name, roles, expires_at, ip_addresses FROM token ORDER BY 1, 2")
    kept = [row[1:] for row in collections(console)]
    return sorted(kept, key=str), tokens, lists(console)


def test_what_the_file_says_is_made_and_a_second_run_changes_nothing(console, apply):
    differences = apply(FLEET)

    assert {("token", "db1"), ("token", "reader"), ("collection", "shop"), ("collection", "wiki")} == {
        (one["Kind"], one["Key"]) for one in differences
    }
    made = {row[2]: row for row in collections(console)}
    assert ("shop.sql", "the shop", 14, 30, None) == (made["shop"][1], *made["shop"][3:7])
    assert ("shop.sql", "case 4711") == (made["wiki"][1], made["wiki"][6])
    assert [("shop", "db1"), ("shop", "reader of all"), ("wiki", "reader of all")] == lists(console)
    with (console.folder / "secrets.csv").open() as file:
        written = {row["Key"]: row["Token"] for row in csv.DictReader(file)}
    assert {"db1", "reader"} == written.keys()
    console.answer("backup:grant", made["shop"][0], written["db1"])  # it is refused for a secret that no token has
    before, events = whole(console), console.count("event")

    assert [] == apply(FLEET)
    assert (before, events) == (whole(console), console.count("event"))
    assert 0 == console.run("apply", "fleet.yaml", "--check").returncode


def test_only_what_differs_is_changed_and_what_is_missing_stays(console, apply):
    apply(FLEET)
    before = collections(console)
    text = FLEET.replace("versions: 14", "versions: 9").replace("tokens: [db1, reader]", "tokens: [db1]")
    text = text[: text.index("  wiki:")]
    dry = apply(text, "--dry-run")

    assert before == collections(console)
    assert dry == apply(text)
    expected = [("shop", "limits.versions", 14, 9), ("shop", "tokens", "reader", None)]
    assert expected == [(one["Key"], one["What"], one["Before"], one["After"]) for one in dry]
    assert [("shop", "db1"), ("wiki", "reader of all")] == lists(console)
    assert 2 == len(collections(console))


def test_a_foreign_token_on_a_list_loses_its_right(console, apply):
    apply(FLEET)
    [(shop,)] = console.rows("SELECT id FROM collection WHERE fleet_key = 'shop'")
    stranger = console.answer("auth:create-token", "--roles", "collections.upload_to_allowed_collections")
    console.answer("backup:grant", shop, stranger)

    write_only = console.run("apply", "fleet.yaml", "--check", "-f", "json")
    assert (2, 1) == (write_only.returncode, len(json.loads(write_only.stdout)))
    apply(FLEET)
    assert [("shop", "db1"), ("shop", "reader of all"), ("wiki", "reader of all")] == lists(console)


def test_a_token_that_was_replaced_keeps_its_key(console, apply):
    apply(FLEET)
    [(fingerprint,)] = console.rows("SELECT fingerprint FROM token WHERE fleet_key = 'db1'")
    console.answer("auth:rotate", fingerprint)

    assert [] == apply(FLEET)


def test_a_thing_is_deleted_only_by_its_state(console, apply):
    apply(FLEET)
    text = FLEET.replace("    name: shop.sql\n    tokens: [reader]\n    hold: {reason: case 4711}", "    state: absent")
    text = text.replace("tokens: [db1, reader]", "tokens: [reader]").replace("db1: {", "db1: {state: absent, ")
    [(wiki,)] = console.rows("SELECT id FROM collection WHERE fleet_key = 'wiki'")
    (console.folder / "fleet.yaml").write_text(text)
    refused = console.refusal("apply", "fleet.yaml", "--yes")

    assert "case 4711" in refused
    assert 2 == len(collections(console)) == console.count("token")  # nothing was done
    console.answer("backup:end-hold", wiki, "--yes")
    assert {"shop", "wiki", "db1"} == {one["Key"] for one in apply(text)}
    assert (["shop"], [("shop", "reader of all")]) == ([row[2] for row in collections(console)], lists(console))
    assert [] == apply(text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("versions: 14", "versions: 14, version_size: 10, total_size: 9", "collections.shop"),
        ("strategy: keep", "strategy: best", "collections.shop"),
        ("versions: 14", "verions: 14", "collections.shop.limits.verions"),
        ("tokens: [reader]", "tokens: [nobody]", "'nobody', which is no token of this file"),
        ("    name: shop.sql\n    description", "    description", "name is missing"),
        ("  wiki:", "  shop:", "written twice"),
        ("2099-12-31", "2009-12-31", "in the past"),
        ("frepo_fleet: 1", "frepo_fleet: 2", "frepo_fleet"),
    ],
)
def test_what_would_be_refused_ends_the_plan_before_the_first_change(console, write, old, new, said):
    write(FLEET.replace(old, new, 1) if old != "  wiki:" else FLEET.replace(old, new))

    assert said in console.refusal("apply", "fleet.yaml", "--secrets", "secrets.csv", "--yes")
    assert not (console.folder / "secrets.csv").exists()
    assert 0 == console.count("collection") == console.count("token")


def test_a_lock_that_would_shrink_and_other_roles_are_refused(console, apply, write):
    locked = FLEET.replace("grace: PT2H", "grace: PT2H\n    locked: P30D")
    apply(locked)
    for text, said in [
        (locked.replace("P30D", "P20D").replace("the shop", "another"), "never shortened"),
        (
            FLEET.replace("db1: {roles: [collections.upload_to_allowed_collections, ", "db1: {roles: ["),
            "cannot be changed",
        ),
    ]:
        write(text)
        assert said in console.refusal("apply", "fleet.yaml", "--yes")
    assert [] == apply(locked)


def test_new_tokens_need_a_file_for_their_secrets(console, write):
    write(FLEET)

    assert "--secrets" in console.refusal("apply", "fleet.yaml", "--yes")
    assert 0 == console.count("collection")


def test_what_is_there_is_exported_and_adopted_by_its_ids(console, apply):
    console.answer("backup:create-collection", "--filename", "a.sql", "--token-name", "host a", "-b", "9")
    console.answer("backup:create-collection", "--filename", "a.sql", "--token-name", "host b")
    console.answer("apply", "--export", "was.yaml")
    text = (console.folder / "was.yaml").read_text()
    file = yaml.safe_load(text)

    assert {"host-a", "host-b"} == file["tokens"].keys()
    assert 2 == len(file["collections"])
    before = [(row[0], row[1], *row[3:]) for row in collections(console)]
    assert {("key", None)} == {(one["What"], one["Before"]) for one in apply(text)}
    assert before == [(row[0], row[1], *row[3:]) for row in collections(console)]
    assert [] == apply(text)
    assert "exists" in console.refusal("apply", "--export", "was.yaml")


def test_hosts_of_fleet_create_are_found_by_their_names(console, apply):
    (console.folder / "hosts.csv").write_text("name\nshop\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--tokens", "tokens.csv")
    [(before,)] = console.rows("SELECT id FROM collection")
    apply(FLEET)

    assert [(before,)] == console.rows("SELECT id FROM collection WHERE fleet_key = 'shop'")


def big(hosts):
    return (
        "frepo_fleet: 1\ntokens:\n"
        + "".join(f"  db{number}: {{roles: [collections.upload_to_allowed_collections]}}\n" for number in range(hosts))
        + "collections:\n"
        + "".join(
            f"  db{number}:\n    name: db.sql\n    limits: {{versions: 9}}\n    tokens: [db{number}]\n"
            for number in range(hosts)
        )
    )


@pytest.mark.slow
@pytest.mark.costly
def test_a_run_that_is_killed_at_random_and_repeated_comes_to_the_same_end(console, write, tmp_path):
    hosts, kills = 60, 0
    write(big(hosts))
    arguments = ["apply", "fleet.yaml", "--secrets", "secrets.csv", "--yes"]
    draw = random.Random(58)
    for _ in range(6):
        process = subprocess.Popen(
            [FREPO, *arguments],
            env=console.environment,
            cwd=console.folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        made = console.count("token") + console.count("collection") + draw.randint(1, 25)
        while process.poll() is None and console.count("token") + console.count("collection") < made:
            time.sleep(0.005)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            kills += 1
        process.wait()
    console.answer(*arguments)

    assert kills
    assert [(f"db{number}", f"db{number}") for number in range(hosts)] == sorted(
        lists(console), key=lambda row: int(row[0][2:])
    )
    assert (hosts, hosts) == (console.count("collection"), console.count("token"))
    with (console.folder / "secrets.csv").open() as file:
        written = list(csv.DictReader(file))
    assert hosts == len(written) == len({row["Token"] for row in written})
    [(some,)] = console.rows("SELECT id FROM collection WHERE fleet_key = 'db7'")
    for row in written[::15]:
        console.answer("backup:grant", some, row["Token"])  # it is refused for a secret that no token has
