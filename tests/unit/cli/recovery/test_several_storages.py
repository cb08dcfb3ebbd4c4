"""`frepo recover` with several storages: what reaches furthest is used, and all of them are listed."""

import shutil

import pytest

KINDS = ("journal", "catalogue")


@pytest.fixture
def offsite(console):
    """Configure a second copy, and a third storage, which gets no content. Return the folders by name."""
    folders = {name: console.folder / name for name in ("offsite", "archive")}
    for name, folder in folders.items():
        console.environment |= {f"STORAGE_{name.upper()}_ADAPTER": "local"}
        console.environment |= {f"STORAGE_{name.upper()}_DIRECTORY": str(folder)}
    console.environment |= {"STORAGES": "offsite archive", "MIRROR": "offsite"}
    return folders | {"local": console.folder / "storage"}


@pytest.fixture
def upload(console):
    def upload(collection, text):
        (console.folder / "dump.sql").write_text(text)
        console.answer("backup:upload", collection, "dump.sql")
        console.answer("jobs:run", "mirror")

    return upload


def files(folder):
    """Return the journal and the catalogues in a storage."""
    return {path.relative_to(folder) for kind in KINDS for path in folder.glob(f"{kind}/*")}


def forget(folder, kept):
    """Let a storage have only the journal that it had before: it was away since."""
    for path in files(folder) - kept:
        (folder / path).unlink()


@pytest.fixture
def collection(console, offsite, upload):
    """A collection with two versions; the storage `offsite` was away when the journal wrote the second one."""
    collection = console.answer("backup:create-collection", "-f", "db.sql", "-b", "9")
    console.answer("storage:sweep", "--storage", "archive")  # so that it has a mark of this database
    upload(collection, "night 1\n")
    console.answer("jobs:run", "catalogue")
    before = files(offsite["offsite"])
    upload(collection, "night 2\n")
    console.answer("jobs:run", "journal")
    forget(offsite["offsite"], before)
    return collection


@pytest.mark.parametrize("order", [("local", "offsite"), ("offsite", "local")])
def test_the_journal_that_reaches_furthest_is_used_in_any_order(console, offsite, collection, order):
    console.database.unlink()

    done = console.run("recover", "--from", order[0], "--from", order[1], "--yes")

    assert (0, "") == (done.returncode, done.stderr)
    assert "The journal in 'offsite' only reaches " in done.stdout
    assert 2 == console.count("version")
    console.answer("backup:download", collection, "v2", "--output", "restored.sql")
    assert "night 2\n" == (console.folder / "restored.sql").read_text()


def test_a_storage_without_a_sound_catalogue_is_no_obstacle(console, offsite, collection):
    console.database.unlink()
    shutil.rmtree(offsite["local"] / "catalogue")

    done = console.run("recover", "--from", "local", "--from", "offsite", "--yes")

    assert (0, "") == (done.returncode, done.stderr)
    assert "The journal in 'local' is not used: The storage 'local' has no catalogue" in done.stdout
    assert 1 == console.count("version")


def test_all_storages_of_the_old_database_are_adopted_and_get_a_catalogue(console, offsite, collection):
    """Also one in which no content is."""
    console.database.unlink()
    before = {name: files(folder) for name, folder in offsite.items()}

    done = console.run("recover", "--from", "local", "--from", "offsite", "--yes")
    console.answer("jobs:run", "catalogue")

    assert "This database owns now: archive, local, offsite" in done.stdout
    for name, folder in offsite.items():
        new = files(folder) - before[name]
        assert ["catalogue"] == [path.parts[0] for path in new], name


def test_what_only_one_of_the_journals_has_is_merged(console, offsite, collection, upload):
    shutil.copy(console.database, console.folder / "backup.db")
    before = files(offsite["local"])
    upload(collection, "night 3\n")
    console.answer("jobs:run", "catalogue")
    console.answer("jobs:run", "journal")
    forget(offsite["local"], before)  # it was away
    console.database.unlink()
    shutil.move(console.folder / "backup.db", console.database)
    for storage in ("local", "offsite"):
        console.run("storage:adopt", "--storage", storage, "--yes")

    done = console.run("recover", "--merge", "local", "--merge", "offsite")

    assert 0 == done.returncode, done.stderr
    assert "The journal in the storage 'local' has nothing that this database did not write itself" in done.stdout
    console.answer("backup:download", collection, "v3", "--output", "restored.sql")
    assert "night 3\n" == (console.folder / "restored.sql").read_text()
