"""`frepo restore`: by the name, a number or a time; from the trash, quarantine and deleted collections."""

import gzip
import json

import pytest

PG = "--\n-- PostgreSQL database dump\n--\n\n--\n-- PostgreSQL database dump complete\n--\n\n"


@pytest.fixture
def folder(console):
    """The folder of the shell."""
    return console.folder


@pytest.fixture
def collection(console, folder):
    """A collection of versions 2 and 3; version 1 was evicted, version 4 was found broken and is in quarantine."""
    made = console.answer("backup:create-collection", "-f", "db.sql", "-b", "2")
    for content in ("one", "two", "three"):
        console.answer("backup:upload", made, "-", stdin=content)
    return made


def test_the_newest_good_version_is_restored_by_the_name_alone(console, collection, folder):
    done = console.run("restore", "db.sql")

    assert 0 == done.returncode, done.stderr
    assert "three" == (folder / "db-v3.sql").read_text()
    assert "Restored db-v3.sql, 5 bytes, SHA-256 " in done.stdout
    assert "db.sql v3 of " in done.stdout


def test_a_version_that_was_evicted_is_restored_by_its_number(console, collection, folder):
    done = console.run("restore", "db.sql", "--version", "v1", "-o", "old.sql")

    assert "one" == (folder / "old.sql").read_text()
    assert "db.sql v1 of " in done.stdout
    assert ", from the trash (until " in done.stdout
    assert ["v3", "v2"] == [
        row["Version"] for row in json.loads(console.answer("backup:versions", collection, "-f", "json"))
    ]


def test_a_time_names_the_version_that_was_newest_then_also_if_it_left(console, collection):
    console.change("UPDATE trash SET created_at = '2026-11-20 01:00:00.000000'")
    console.change("UPDATE version SET created_at = '2026-11-22 01:00:00.000000'")

    on_that_day = console.run("restore", "db.sql", "--at", "2026-11-20T23:00:00+00:00", "-o", "-")
    before = console.refusal("restore", "db.sql", "--at", "2026-11-19T00:00:00+00:00", "-o", "-")
    without_zone = console.run("restore", "db.sql", "--at", "2026-11-23", "-o", "-")

    assert "one" == on_that_day.stdout
    assert "db.sql has no version that had arrived by then" in before
    assert "three" == without_zone.stdout
    assert "The end of that day is taken in the zone of this host" in without_zone.stderr
    assert "'gestern' is no day or time" in console.refusal("restore", "db.sql", "--at", "gestern")


def test_a_version_in_quarantine_is_restored_after_a_question(console, folder):
    made = console.answer("backup:create-collection", "-f", "db.sql", "-b", "2", "--min-version-size", "100")
    console.answer("backup:upload", made, "-", stdin="small")

    refused = console.refusal("restore", "db.sql", "--version", "1")
    done = console.run("restore", "db.sql", "--version", "1", "--yes", "-o", "small.sql")
    nothing_good = console.refusal("restore", "db.sql")

    assert "--yes" in refused
    assert not [*folder.glob("db*.sql")]
    assert "from the quarantine" in done.stdout
    assert "small" == (folder / "small.sql").read_text()
    assert "db.sql has no good version" in nothing_good


def test_a_newer_version_that_is_not_good_is_named(console, folder):
    made = console.answer("backup:create-collection", "-f", "db.sql", "-b", "4", "--min-version-size", "5")
    console.answer("backup:upload", made, "-", stdin="large enough")
    console.answer("backup:upload", made, "-", stdin="tiny")

    done = console.run("restore", "db.sql")

    assert "large enough" == (folder / "db-v1.sql").read_text()
    assert "A newer one is left out: db.sql v2 of " in done.stderr
    assert ", from the quarantine: suspicious. Take it with --version 2\n" in done.stderr
    assert "left out" not in console.run("restore", "db.sql", "--version", "1", "-o", "one.sql").stderr


def test_a_deleted_collection_is_found_by_its_name(console, collection, folder):
    console.answer("backup:delete-collection", collection, "--with-versions", "--yes")

    done = console.run("restore", "db.sql")

    assert "three" == (folder / "db-v3.sql").read_text()
    assert "from the deleted collection" in done.stdout


def test_of_several_with_one_name_none_is_taken(console, collection, folder):
    other = console.answer("backup:create-collection", "-f", "db.sql").splitlines()[0]

    done = console.run("restore", "db.sql")

    assert 2 == done.returncode
    assert f"  frepo restore {collection}\n" in done.stderr
    assert f"  frepo restore {other}\n" in done.stderr
    assert not [*folder.glob("db*.sql")]
    assert 0 == console.run("restore", collection).returncode


def test_without_a_name_what_can_be_restored_is_listed(console, collection):
    console.answer("backup:create-collection", "-f", "empty.sql")

    (row,) = json.loads(console.answer("restore", "-f", "json"))

    assert ("db.sql", "v3", 5, 1, None, collection) == tuple(
        row[name] for name in ("Name", "Newest good", "Size", "In trash", "Deleted", "Collection")
    )
    assert "name the collection, too" in console.refusal("restore", "--version", "1")
    assert "nothing is called 'db.tar'" in console.refusal("restore", "db.tar")


def test_it_says_how_to_load_what_it_has_restored(console, folder):
    made = console.answer("backup:create-collection", "-f", "shop.sql")
    (folder / "dump").write_text(PG)
    (folder / "dump.gz").write_bytes(gzip.compress(PG.encode()))
    lines = {}
    for number, name in enumerate(("dump", "dump.gz"), 1):
        console.answer("backup:upload", made, name)
        done = console.run("restore", "shop.sql", "--version", str(number), "-o", f"it's {name}", "--yes")
        lines[name] = done.stdout.splitlines()[-1]

    assert """Load it: psql -v ON_ERROR_STOP=1 DATABASE < 'it'"'"'s dump'""" == lines["dump"]
    assert """Load it: gunzip < 'it'"'"'s dump.gz' | psql -v ON_ERROR_STOP=1 DATABASE""" == lines["dump.gz"]


def test_damaged_bytes_are_never_restored(console, collection, folder):
    console.change("UPDATE object SET state = 'damaged', since = '2026-11-20 01:00:00' WHERE size = 5")

    refused = console.refusal("restore", "db.sql", "--version", "3")
    done = console.run("restore", "db.sql", "-o", "good.sql")

    assert "damaged" in refused or "missing" in refused
    assert "two" == (folder / "good.sql").read_text()
    assert 0 == done.returncode
