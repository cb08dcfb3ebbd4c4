"""Files that the command `frepo` writes: for their owner alone, and never through somebody's link."""

import csv
import os

import pytest

from frepo_core.features.recovery.commands.recover import write_missing
from frepo_core.features.recovery.staging import MissingContent

SECRET_TABLES = {
    "fleet:create --from hosts.csv --tokens": "--tokens",
    "fleet:create --from hosts.csv --codes": "--codes",
}


@pytest.fixture
def open_umask():
    """Every file is readable and writable for all unless it is made otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def victim(console):
    """A file of somebody that must not change."""
    path = console.folder / "victim"
    path.write_text("untouched")
    return path


def test_files_of_secrets_and_contents_are_for_their_owner_alone(console, open_umask):
    (console.folder / "hosts.csv").write_text("name\ndb7\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--tokens", "tokens.csv")
    (console.folder / "hosts.csv").write_text("name\nweb\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--codes", "codes.csv")
    [row] = csv.DictReader((console.folder / "tokens.csv").read_text().splitlines())
    (console.folder / "dump.sql").write_text("INSERT")
    console.answer("backup:upload", row["Collection"], "dump.sql")
    console.answer("backup:download", row["Collection"], "--output", "restored.sql")

    written = ("tokens.csv", "codes.csv", "restored.sql", "secrets.json")
    assert dict.fromkeys(written, 0o600) == {name: (console.folder / name).stat().st_mode & 0o777 for name in written}


@pytest.mark.parametrize("command", SECRET_TABLES)
def test_no_secret_is_written_through_a_link_or_into_the_file_of_another_user(console, victim, command):
    (console.folder / "hosts.csv").write_text("name\ndb7\n")
    (console.folder / "link.csv").symlink_to(victim)
    (console.folder / "theirs.csv").touch(0o666)
    is_root = os.geteuid() == 0
    if is_root:
        os.chown(console.folder / "theirs.csv", 65534, 65534)

    linked = console.refusal(*command.split(), "link.csv")
    theirs = console.refusal(*command.split(), "theirs.csv") if is_root else "belongs to another user"

    assert f"{SECRET_TABLES[command]}: 'link.csv' is a link" in linked
    assert "belongs to another user" in theirs
    assert ("untouched", 0) == (victim.read_text(), (console.folder / "theirs.csv").stat().st_size)
    assert 0 == console.count("token")


def test_the_lists_of_a_recovery_replace_a_link_and_not_what_it_names(tmp_path, open_umask):
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / "frepo-missing.csv").symlink_to(victim)
    content = MissingContent(what="version", name="a", size=1, digest="d", storage="local", key="k")

    path = write_missing([content], str(tmp_path), "frepo-missing.csv")

    assert "untouched" == victim.read_text()
    assert (False, 0o600) == (path.is_symlink(), path.stat().st_mode & 0o777)
    assert [path.name, "victim"] == sorted(each.name for each in tmp_path.iterdir())
