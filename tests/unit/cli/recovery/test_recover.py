"""`frepo recover`: what it refuses, the secrets of the old machine, and what it reads back into a database."""

import csv
import gzip
import hashlib
import json
import shutil

import pytest

OTHER = {"APP_SECRET": "b" * 64, "ENC_TOKEN_PHRASE": "c" * 64}


def read(console, name):
    return list(csv.DictReader((console.folder / name).read_text().splitlines()))


@pytest.fixture
def lost(console):
    """A storage with a catalogue whose database is lost. Return the id of a collection with a version."""
    (console.folder / "hosts.csv").write_text("name\ndb1\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--tokens", "tokens.csv")
    [row] = read(console, "tokens.csv")
    (console.folder / "dump.sql").write_text("night 1\n")
    console.answer("backup:upload", row["Collection"], "dump.sql")
    console.answer("jobs:run", "catalogue")
    console.database.unlink()
    return row["Collection"]


def test_another_phrase_is_refused_and_nothing_is_changed(console, lost):
    """Also where nobody looks at the seals of the catalogue, which are of the same secrets."""
    for words in ([], ["--unverified"]):
        done = console.run("recover", "--from", "local", "--yes", *words, **OTHER)

        assert 1 == done.returncode, words
        assert "is not the phrase of the old machine" in done.stderr, words
        assert "--secrets FILE" in done.stderr, words
        assert 0 == console.count("collection"), words


@pytest.mark.costly
def test_the_secrets_of_the_safe_replace_those_that_were_made_by_mistake(console, lost):
    shutil.move(console.folder / "secrets.json", console.folder / "safe.json")

    console.answer("recover", "--from", "local", "--secrets", "safe.json", "--yes")

    assert json.loads((console.folder / "safe.json").read_text()) == json.loads(
        (console.folder / "secrets.json").read_text()
    )
    assert 1 == console.count("token")
    assert [] == list(console.folder.glob("frepo-*.csv"))


@pytest.mark.costly
def test_a_copy_of_the_environment_of_the_old_machine_has_the_secrets(console, lost):
    kept = json.loads((console.folder / "secrets.json").read_text())
    (console.folder / "secrets.json").unlink()
    lines = [f"{name.upper().replace('.', '_')}='{value}'\n" for name, value in kept.items()]
    (console.folder / "environment").write_text("".join(["# of this machine alone\n", "FREPO_INI=a.ini\n", *lines]))

    console.answer("recover", "--from", "local", "--secrets", "environment", "--yes")

    assert kept == json.loads((console.folder / "secrets.json").read_text())
    assert 1 == console.count("token")


def test_a_file_without_the_secrets_is_refused(console, lost):
    (console.folder / "safe.txt").write_text("app.secret = abc\n")

    assert "has no line `enc.token_phrase = ...`" in console.refusal(
        "recover", "--from", "local", "--secrets", "safe.txt", "--yes"
    )


@pytest.mark.costly
def test_without_the_secrets_the_hosts_get_new_codes(console, lost):
    console.answer("recover", "--from", "local", "--without-secrets", "--yes", **OTHER)

    assert ["db1"] == [row["name"] for row in read(console, "frepo-hosts.csv")]
    [token] = read(console, "frepo-tokens.csv")
    assert ("db1", lost) == (token["name"], token["collections"])
    assert 0 == console.count("token")
    console.answer("fleet:create", "--from", "frepo-hosts.csv", "--codes", "codes.csv", **OTHER)
    [code] = read(console, "codes.csv")
    assert lost == code["Collection"]


@pytest.mark.costly
def test_missing_contents_are_listed_and_the_exit_status_is_1(console, lost):
    [blob] = [path for path in (console.folder / "storage").glob("??/*-*") if path.stat().st_size == 8]
    blob.unlink()

    done = console.run("recover", "--from", "local", "--yes")

    assert (1, "") == (done.returncode, done.stderr)
    [row] = read(console, "frepo-missing.csv")
    assert (f"version {lost} 1", "8") == (row["what"], row["size"])


@pytest.mark.costly
def test_a_used_database_is_refused(console, lost):
    console.run("backup:create-collection", "-f", "a.sql")

    assert "is not empty" in console.refusal("recover", "--from", "local", "--yes")


def test_it_counts_what_it_has_recovered_as_people_do(console, lost):
    console.answer("recover", "--from", "local", "--yes")
    console.answer("jobs:run", "catalogue")
    console.answer("backup:delete-collection", lost, "--with-versions", "--yes")
    console.answer("jobs:run", "journal")
    console.database.unlink()

    done = console.run("recover", "--from", "local", "--yes")

    assert " and 1 part of the journal since" in done.stdout
    assert "Recovered: 0 collections, 0 versions, 0 files, 1 token, 1 deleted collection, 1 version in the trash" in (
        done.stdout
    )


@pytest.mark.costly
def test_a_restored_database_gets_back_what_it_has_lost(console, lost):
    console.answer("recover", "--from", "local", "--yes")
    console.answer("jobs:run", "catalogue")
    shutil.copy(console.database, console.folder / "backup.db")
    (console.folder / "dump.sql").write_text("night 2\n")
    console.answer("backup:upload", lost, "dump.sql")
    console.answer("jobs:run", "journal")
    console.database.unlink()
    shutil.move(console.folder / "backup.db", console.database)

    done = console.run("recover", "--merge", "local")

    assert 0 == done.returncode
    assert "Read back: 0 collections, 1 version, 0 versions in the trash" in done.stdout
    console.answer("backup:download", lost, "v2", "--output", "restored.sql")
    assert "night 2\n" == (console.folder / "restored.sql").read_text()


def test_administrators_are_named_before_the_question(console, lost):
    """Somebody who can write to the storage has forged a catalogue in which a host is an administrator."""
    [catalogue] = (console.folder / "storage/catalogue").iterdir()
    lines = gzip.decompress(catalogue.read_bytes()).replace(
        b'"collections.upload', b'"security.administrator","c.upload'
    )
    *objects, _, seal = lines.splitlines(keepends=True)
    end = {"end": {"objects": len(objects) - 1, "sha256": hashlib.sha256(b"".join(objects)).hexdigest()}}
    catalogue.chmod(0o600)
    catalogue.write_bytes(gzip.compress(b"".join([*objects, json.dumps(end).encode(), b"\n", seal])))

    assert "cannot be verified" in console.refusal("recover", "--from", "local", "--yes")
    done = console.run("recover", "--from", "local", "--unverified", input="no\n")

    assert 0 == console.count("collection")
    assert "Nothing is verified" in done.stdout
    named = done.stdout.partition("Tokens with administrative roles")[2].splitlines()[1]
    assert ["db1,", "security.administrator"] == [named.split()[1], named.split()[-1]]
