"""`auth:rotate --all`: the tokens of a fleet, whose secrets are on the disk before the first is made."""

import csv
import json
import os
import signal
import stat
import subprocess
import time

import pytest

from unit.cli.conftest import FREPO

ALL = ("auth:rotate", "--all", "--collection", "db*", "--secrets", "new.csv")


@pytest.fixture
def fleet(console):
    """Three hosts with a token each; the pattern matches two."""
    (console.folder / "hosts.csv").write_text("name\ndb1\ndb2\nweb1\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--tokens", "first.csv")
    return console


def tokens(console):
    return {
        fingerprint: (name, expires_at)
        for fingerprint, name, expires_at in console.rows("SELECT fingerprint, name, expires_at FROM token")
    }


def secrets(console, name="new.csv"):
    with (console.folder / name).open() as file:
        return list(csv.DictReader(file))


def test_the_tokens_of_matching_collections_are_replaced(fleet):
    before = tokens(fleet)
    shown = json.loads(fleet.answer(*ALL, "--overlap", "3d", "-f", "json"))

    assert [("db1", "replaced"), ("db2", "replaced")] == [(one["Name"], one["Result"]) for one in shown]
    path = fleet.folder / "new.csv"
    assert 0o600 == stat.S_IMODE(path.stat().st_mode)
    written = secrets(fleet)
    assert {"db1", "db2"} == {one["Name"] for one in written}
    after = tokens(fleet)
    assert len(before) + 2 == len(after)
    for one in shown:
        assert before[one["Replaces"]][1] is None
        assert after[one["Replaces"]][1] is not None
        assert after[one["Fingerprint"]] == (one["Name"], None)
    assert all(
        fingerprint in after and after[fingerprint][1] is None
        for fingerprint, (name, _) in before.items()
        if name == "web1"
    )


def test_a_second_run_with_the_same_file_changes_nothing_and_another_file_replaces_again(fleet):
    fleet.answer(*ALL)
    before, written = tokens(fleet), secrets(fleet)
    again = json.loads(fleet.answer(*ALL, "-f", "json"))

    assert {"done by an earlier run"} == {one["Result"] for one in again}
    assert (before, written) == (tokens(fleet), secrets(fleet))
    third = json.loads(fleet.answer(*ALL[:-1], "third.csv", "-f", "json"))
    assert {"replaced"} == {one["Result"] for one in third}
    assert len(before) + 2 == len(tokens(fleet))
    ends = [end for name, end in tokens(fleet).values() if name == "db1"]
    assert 1 == ends.count(None)


def test_a_dry_run_writes_nothing(fleet):
    before = tokens(fleet)
    shown = json.loads(fleet.answer("auth:rotate", "--all", "--collection", "*", "--dry-run", "-f", "json"))

    assert ["db1", "db2", "web1"] == [one["Name"] for one in shown]
    assert {"would be replaced"} == {one["Result"] for one in shown}
    assert before == tokens(fleet)
    assert not (fleet.folder / "new.csv").exists()


def test_the_token_of_an_administrator_is_left_out(fleet):
    admin = fleet.answer("auth:generate-admin-token")
    [(fingerprint,)] = fleet.rows("SELECT fingerprint FROM token WHERE roles LIKE '%administrator%'")
    fleet.answer("backup:grant", "db1", fingerprint)
    shown = fleet.answer(*ALL, "-f", "json")

    assert admin not in shown
    assert fingerprint not in {one["Replaces"] for one in json.loads(shown)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--all", "--secrets", "new.csv"], "--collection"),
        (["--all", "--collection", "db*"], "--secrets"),
        (["--all", "3f9c2a71d0be", "--collection", "db*", "--secrets", "new.csv"], "names one token"),
        ([], "name a token"),
        (["3f9c2a71d0be", "--secrets", "new.csv"], "--all"),
        (["--all", "--collection", "db*", "--secrets", "link.csv"], "is a link"),
        (["--all", "--collection", "db*", "--secrets", "hosts.csv"], "another file"),
    ],
)
def test_what_is_wrong_changes_nothing(fleet, options, said):
    (fleet.folder / "link.csv").symlink_to("new.csv")
    before = tokens(fleet)

    assert said in fleet.refusal("auth:rotate", *options)
    assert before == tokens(fleet)
    assert not (fleet.folder / "new.csv").exists()


@pytest.mark.slow
@pytest.mark.costly
def test_a_run_that_is_killed_loses_no_secret(fleet):
    """Killed at any moment and run again, each host has one new token, whose secret is in the file."""
    (fleet.folder / "hosts.csv").write_text("name\n" + "".join(f"db{number}\n" for number in range(40)))
    fleet.answer("fleet:create", "--from", "hosts.csv", "--tokens", "first.csv")
    kills = 0
    for more in (1, 4, 3, 9, 2):
        made = fleet.count("token") + more
        process = subprocess.Popen(
            [FREPO, *ALL], env=fleet.environment, cwd=fleet.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and fleet.count("token") < made:
            time.sleep(0.005)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
            kills += 1
        process.wait()
    fleet.answer(*ALL)

    assert kills
    endless = [name for name, end in tokens(fleet).values() if end is None and name.startswith("db")]
    assert 40 == len(endless) == len(set(endless)) == len(secrets(fleet))
    for one in secrets(fleet)[::10]:
        fleet.answer("backup:grant", one["Name"], one["Token"])  # it is refused for a secret that no token has
