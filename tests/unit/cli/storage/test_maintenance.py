"""The storage commands, on a database and a storage with damage."""

import json
import os
import time
from datetime import timedelta
from io import BytesIO

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.roles import Role
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile


@pytest.fixture
def database_url(console):
    """Return the URL of the console's database."""
    return f"sqlite:///{console.database}"


@pytest.fixture
def damaged(services, make_token):
    """Store 2,000 bytes and damage them; return their key."""
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    file = services.files.add(NewFile(name="a.bin"), Incoming(stream=BytesIO(bytes(2000))), by=by).file
    services.backends.get("local").path(file.blob.key).write_bytes(bytes(1000))
    return file.blob.key


def test_damage_exits_with_1_and_is_named(console, damaged):
    done = console.run("storage:verify", "-f", "json")

    report = json.loads(done.stdout)
    assert (done.returncode, report["checked"], report["size"]) == (1, 1, 2000)
    assert damaged in json.dumps(report["damaged"])


@pytest.mark.parametrize("column", ["stored_at", "read_at"])
def test_damage_is_found_despite_a_check_date_in_the_future(console, services, damaged, column):
    change = update(StoredObject).values({column: utc_now() + timedelta(days=365)})
    services.database.write(lambda session: session.execute(change))

    done = console.run("storage:verify", "--older-than", "30d", "-f", "json")

    assert 1 == done.returncode
    assert damaged in done.stdout


def test_the_default_output_is_a_table(console, damaged):
    assert "2.00 kB" in console.run("storage:verify").stdout


def test_a_storage_that_is_not_installed_is_named_as_in_the_option(console, damaged):
    for command in ["storage:migrate --to local --from", "storage:sweep --storage"]:
        said = console.refusal(*command.split(), "barrel")

        assert "'barrel'" in said and "local" in said
        assert "FS_ADAPTER" not in said and "holds some of the blobs" not in said, command


def test_a_storage_of_a_similar_name_is_suggested(console, damaged):
    for written, meant in [("s3", "awss3v3"), ("S3", "awss3v3"), ("lcoal", "local"), ("ftps", "ftp"), ("zzz", None)]:
        said = console.refusal("storage:migrate", "--from", "local", "--to", written)

        assert "Installed: awss3v3, ftp, local" in said
        assert (f"Did you mean {meant!r}?" in said) if meant else ("Did you mean" not in said)
        assert "holds some of the blobs" not in said, written


def age(path, days=3):
    when = time.time() - days * 86_400
    os.utime(path, (when, when))


@pytest.fixture
def stored(services, make_token):
    """Store five contents; return their keys."""
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    contents = [Incoming(stream=BytesIO(bytes([number]))) for number in range(5)]
    return [services.files.add(NewFile(name="a.bin"), incoming, by=by).file.blob.key for incoming in contents]


@pytest.mark.usefixtures("stored")
def test_a_sweep_never_deletes_files_of_others(console):
    of_others = ["NOTES.txt", "other-app/2024/dump.sql.gz", "ab/README", "ab/.partial-download"]
    for name in of_others:
        path = console.folder / "storage" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("not frepo's")
        age(path)

    done = console.run("storage:sweep", "-f", "json")

    report = json.loads(done.stdout)
    assert (0, 0, 5, 3) == (done.returncode, report["orphans"], report["blobs"], report["foreign"])
    assert sorted(of_others[:3]) == sorted(report["foreign_examples"])
    assert [True] * 4 == [(console.folder / "storage" / name).exists() for name in of_others]


@pytest.mark.costly
def test_a_sweep_with_an_empty_database_stops_until_the_number_is_confirmed(console, stored):
    paths = [console.folder / "storage" / key for key in stored]
    for path in paths:
        age(path)
    empty = {"DATABASE_URL": f"sqlite:///{console.folder}/empty.db"}
    console.answer("db:upgrade", **empty)

    said = console.refusal("storage:sweep", **empty)

    assert "would delete 5 of 5 blobs" in said and "--yes-delete 5" in said
    assert all(path.exists() for path in paths)
    assert "would delete" in console.refusal("storage:sweep", "--yes-delete", "4", **empty)
    assert 5 == json.loads(console.run("storage:sweep", "--yes-delete", "5", "-f", "json", **empty).stdout)["orphans"]
    assert not any(path.exists() for path in paths)


@pytest.mark.costly
def test_a_dry_run_reports_everything_it_finds(console, stored):
    for key in stored:
        age(console.folder / "storage" / key)
    empty = {"DATABASE_URL": f"sqlite:///{console.folder}/empty.db"}
    console.answer("db:upgrade", **empty)

    done = console.run("storage:sweep", "--dry-run", "-f", "json", **empty)

    assert (0, 5) == (done.returncode, json.loads(done.stdout)["orphans"])


def test_a_grace_period_of_less_than_an_hour_is_refused(console):
    for grace in ["0", "5s", "59m"]:
        assert "--grace: at least 1h" in console.refusal("storage:sweep", "--grace", grace)


def test_storages_are_listed_and_a_collection_is_moved(console, tmp_path):
    archive = {"STORAGES": "archive", "STORAGE_ARCHIVE_ADAPTER": "local"}
    archive["STORAGE_ARCHIVE_DIRECTORY"] = str(tmp_path / "archive")
    collection = console.answer("backup:create-collection", "-f", "db.sql", **archive)
    (tmp_path / "dump").write_bytes(b"a dump")
    console.answer("backup:upload", collection, str(tmp_path / "dump"), **archive)

    moved = json.loads(
        console.answer("storage:migrate", "--collection", collection, "--to", "archive", "-f", "json", **archive)
    )

    assert ("good", 1, 6, 0) == tuple(moved[name] for name in ("outcome", "moved", "size", "failed"))
    rows = {row["Name"]: row for row in json.loads(console.answer("storages", "-f", "json", **archive))}
    assert {"archive": ("named", 1, 6, 1), "local": ("first", 0, 0, 0)} == {
        name: tuple(row[column] for column in ("Use", "Blobs", "Size", "Collections")) for name, row in rows.items()
    }
    assert "a dump" == console.answer("backup:download", collection, "--output", "-", **archive)
    assert "to: is required with --from" in console.refusal("storage:migrate", "--from", "local")
