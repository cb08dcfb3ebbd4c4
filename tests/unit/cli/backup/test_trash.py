"""`backup:trash`, `backup:restore-version`, `backup:empty-trash` and the commands for deleted collections."""

import json

import pytest


@pytest.fixture
def collection(console):
    """A collection of version 2; version 1 was deleted."""
    collection = console.answer("backup:create-collection", "-f", "db.sql", "-b", "3")
    for content in ("one", "two"):
        console.answer("backup:upload", collection, "-", stdin=content)
    console.answer("backup:delete-version", collection, "v1", "--yes")
    return collection


def rows(console, *command):
    return json.loads(console.answer(*command, "-f", "json"))


def test_a_deleted_version_is_listed_and_restored(console, collection):
    (entry,) = rows(console, "backup:trash", collection)
    said = console.answer("backup:restore-version", collection, "v1")

    assert ("v1", 3, "deleted") == (entry["Version"], entry["Size"], entry["Reason"])
    assert entry["By"].startswith("console:")
    assert "Restored version v1" in said
    assert ["v2", "v1"] == [row["Version"] for row in rows(console, "backup:versions", collection)]
    assert [] == rows(console, "backup:trash", collection)


def test_the_trash_is_emptied_only_if_that_is_confirmed(console, collection):
    refused = console.run("backup:empty-trash", collection, "v1")
    kept = rows(console, "backup:trash", collection)
    said = console.answer("backup:empty-trash", collection, "--yes")

    assert (1, 1) == (refused.returncode, len(kept))
    assert "--yes" in refused.stderr
    assert "Deleted 1 version in the trash" in said
    assert [] == rows(console, "backup:trash", collection)


def test_a_deleted_collection_is_listed_and_restored(console, collection):
    not_empty = console.run("backup:delete-collection", collection, "--yes")
    console.answer("backup:delete-collection", collection, "--with-versions", "--yes")
    (deleted,) = rows(console, "backup:deleted-collections")
    said = console.answer("backup:restore-collection", collection)

    assert not_empty.returncode != 0
    assert "--with-versions" in not_empty.stderr
    assert (collection, "db.sql", 1) == (deleted["Id"], deleted["Name"], deleted["Versions"])
    assert f"Restored the collection {collection} (db.sql) with 1 version" in said
    assert ["v2"] == [row["Version"] for row in rows(console, "backup:versions", collection)]


def test_a_deleted_collection_is_ended(console, collection):
    console.answer("backup:delete-collection", collection, "--with-versions", "--yes")

    assert "with 2 versions" in console.answer("backup:end-deleted-collection", collection, "--yes")
    assert [] == rows(console, "backup:deleted-collections")
    assert console.run("backup:restore-collection", collection).returncode != 0


def test_a_deleted_collection_is_named_by_its_name(console, collection):
    console.answer("backup:delete-collection", "db.sql", "--with-versions", "--yes")
    assert f"Restored the collection {collection} (db.sql)" in console.answer("backup:restore-collection", "db.sql")
    console.answer("backup:delete-collection", "db.sql", "--with-versions", "--yes")
    assert collection == rows(console, "backup:end-deleted-collection", "db.sql", "--yes")["collection"]

    assert "There is no deleted collection 'db.sql'" in console.refusal("backup:restore-collection", "db.sql")
    for _ in range(2):
        console.answer("backup:create-collection", "-f", "db.sql")
        console.answer("backup:delete-collection", "db.sql", "--yes")
    refusal = console.refusal("backup:restore-collection", "db.sql")
    assert "2 deleted collections are called 'db.sql': give the incarnation of one" in refusal
    assert "`frepo backup:deleted-collections --long` lists the incarnations" in refusal


def test_a_deletion_that_would_be_refused_is_not_asked_about(console, collection):
    refusal = console.refusal("backup:delete-collection", collection)

    assert "--with-versions" in refusal
    assert "--yes" not in refusal
