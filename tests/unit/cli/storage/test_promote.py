"""`storage:promote` says what has no copy, and changes nothing without --force; the status reminds of the settings."""

import json

import pytest


def test_contents_without_a_copy_are_named_and_need_force(mirrored):
    said = mirrored.run("storage:promote", "offsite", "--yes")

    assert 1 == said.returncode
    assert "Without a copy: 1 (5 bytes):\n  file 2cf24dba5fa.txt" in said.stdout
    assert "Nothing was changed" in said.stderr
    assert "To copy them first: frepo storage:mirror" in said.stderr
    assert "is the first storage now" in mirrored.answer("storage:promote", "offsite", "--yes", "--force")


@pytest.mark.costly
def test_the_list_of_storages_says_where_copies_are(mirrored):
    mirrored.answer("storage:mirror")

    rows = {row["Name"]: row for row in json.loads(mirrored.answer("storages", "-f", "json"))}

    assert {"local": ("first", 1, 5), "offsite": ("copies", 1, 5)} == {
        name: tuple(row[column] for column in ("Use", "Blobs", "Size")) for name, row in rows.items()
    }


def test_a_storage_without_copies_and_one_that_does_not_exist_are_refused(mirrored):
    assert "'local' is the first storage already" in mirrored.refusal("storage:promote", "local", "--yes")
    assert "nowhere" in mirrored.refusal("storage:promote", "nowhere", "--yes")
    assert "is the first storage" in mirrored.refusal("storage:resilver", "--to", "local")


@pytest.mark.costly
def test_the_status_reminds_of_the_settings_until_they_are_right(mirrored):
    mirrored.answer("storage:mirror")
    assert 0 == mirrored.run("storage:promote", "offsite", "--yes").returncode

    def reminders():
        lines = json.loads(mirrored.run("status", "-f", "json").stdout)
        return [line["Details"] for line in lines if line["What"] == "settings"]

    assert 2 == len(reminders())
    assert "Set fs.adapter = offsite" in reminders()[0]
    mirrored.environment |= {"FS_ADAPTER": "offsite", "MIRROR": "local"}
    assert [] == reminders()


def test_the_storage_of_the_second_copies_does_not_become_the_only_one(mirrored):
    """What is moved there, or stored there alone, would have one copy, and nothing would say so."""
    collection = mirrored.answer("backup:create-collection", "-f", "db.sql")
    mirrored.answer("storage:mirror")
    only = "'offsite' has the second copies"

    assert only in mirrored.refusal("storage:migrate", "--from", "local", "--to", "offsite", "--purge")
    assert only in mirrored.refusal("storage:migrate", "--collection", collection, "--to", "offsite")
    assert only in mirrored.refusal("backup:edit", collection, "--storage", "offsite")
    assert only in mirrored.refusal("backup:create-collection", "-f", "a.sql", "--storage", "offsite")
    assert [("local",)] == mirrored.rows("SELECT DISTINCT storage FROM object WHERE role = 'first'")
