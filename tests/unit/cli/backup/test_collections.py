"""`backup:list`, `backup:show`, `backup:edit`, `backup:grant` and `backup:revoke`."""

import gzip
import json
import re

import pytest


@pytest.fixture
def collection(console):
    return console.answer("backup:create-collection", "-f", "db.sql.gz", "-b", "3", "-d", "the shop")


@pytest.fixture
def fingerprint(console):
    console.answer("auth:create-token", "--roles", "collections.upload_to_allowed_collections")
    return console.rows("SELECT fingerprint FROM token")[0][0]


def show(console, collection):
    return json.loads(console.answer("backup:show", collection, "-f", "json"))


def test_collections_are_listed_newest_first(console, collection):
    newer = console.answer("backup:create-collection", "-f", "mail.tar", "-d", "mail")

    rows = json.loads(console.answer("backup:list", "-f", "json"))

    assert [(row["Id"], row["Name"], row["Versions"]) for row in rows] == [
        (newer, "mail.tar", 0),
        (collection, "db.sql.gz", 0),
    ]


def test_a_list_is_searched_and_limited(console, collection):
    console.answer("backup:create-collection", "-f", "mail.tar")

    assert collection == console.answer("backup:list", "--search", "SHOP", "-f", "value", "-c", "Id")
    assert 1 == len(json.loads(console.answer("backup:list", "--limit", "1", "-f", "json")))
    assert "--limit: must be from 1" in console.refusal("backup:list", "--limit", "0")


def test_an_edit_changes_only_what_is_given(console, collection):
    before = show(console, collection)

    options = ["--max-backups-count", "14", "--min-retention", "7d", "--password", "a-password-5ecre7"]
    console.answer("backup:edit", collection, *options)

    expected = before | {"max_backups_count": 14, "min_retention": "1w", "password": "set"}
    assert expected == show(console, collection)


def test_an_edit_is_an_event_of_the_user_of_the_console(console, collection):
    console.answer("backup:edit", collection, "--description", "the new shop")

    [(actor, data)] = console.rows("SELECT actor, data FROM event WHERE kind = 'collection.edited'")
    assert actor.startswith("console:")
    assert json.loads(data)["after"] == {"description": "the new shop"}


def test_an_edit_has_the_short_options_that_are_no_formats(console, collection):
    short = ["-b", "5", "-o", "0", "-d", "the new shop", "-c", "max_backups_count", "-c", "max_one_version_size"]

    shown = console.answer("backup:edit", collection, *short)

    assert "| max_backups_count    | 5        |" in shown
    assert "| max_one_version_size | no limit |" in shown


def test_an_edit_without_a_change_is_refused(console, collection):
    assert "Nothing to change was given" in console.refusal("backup:edit", collection)


def test_a_token_is_granted_and_revoked(console, collection, fingerprint):
    assert "may use the collection" in console.answer("backup:grant", collection, fingerprint)
    assert "was allowed already" in console.answer("backup:grant", collection, fingerprint.upper())
    assert [fingerprint] == show(console, collection)["tokens"]

    assert "may no longer use" in console.answer("backup:revoke", collection, fingerprint)
    assert "was not on the list" in console.answer("backup:revoke", collection, fingerprint)
    assert [] == show(console, collection)["tokens"]


def test_a_token_is_granted_by_its_id_which_is_never_shown(console, collection):
    token = console.answer("auth:create-token", "--roles", "upload.all")

    said = console.answer("backup:grant", collection, token)

    assert re.search(r"Token [0-9a-f]{12} may use", said)
    assert token not in said


def test_nothing_is_granted_if_one_of_the_tokens_does_not_exist(console, collection, fingerprint):
    assert "abcdefabcdef" in console.refusal("backup:grant", collection, fingerprint, "abcdefabcdef")
    assert [] == show(console, collection)["tokens"]


def test_an_unknown_token_is_refused_without_showing_it(console, collection):
    for token in ["db7", "7a4b9b6c-97ce-4cc7-ac0d-f06b0b3c6a11"]:
        assert token not in console.refusal("backup:grant", collection, token).replace("db.sql.gz", "")


def test_an_unknown_collection_is_named_as_such(console):
    for command in ["show", "edit", "versions", "grant", "upload", "download", "delete-version"]:
        more = {
            "edit": ["--description", "a"],
            "grant": ["abcdefabcdef"],
            "upload": ["-"],
            "delete-version": ["v1"],
        }.get(command, [])

        assert "collection_no_longer_exists" in console.refusal(
            f"backup:{command}", "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001", *more
        )


def test_the_error_for_an_unknown_collection_names_the_argument_and_the_command_that_lists_collections(console):
    for identifier, problem in {
        "nonsense": "no collection has the id or the name 'nonsense'",
        "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001": "collection_no_longer_exists",
    }.items():
        refusal = console.refusal("backup:versions", identifier)

        assert f"  <id>: {problem}\n" in refusal
        assert refusal.endswith("  `frepo backup:list -c Name -c Id` lists the collections\n")


def test_the_error_for_an_unknown_collection_names_the_option_of_a_command_that_has_it(console):
    refusal = console.refusal("auth:list", "--collection", "nonsense")

    assert "  --collection: no collection has the id or the name 'nonsense'\n" in refusal


def test_a_storage_is_set_with_the_options_of_both_commands(console, tmp_path):
    archive = {"STORAGES": "archive", "STORAGE_ARCHIVE_ADAPTER": "local"}
    archive["STORAGE_ARCHIVE_DIRECTORY"] = str(tmp_path / "archive")
    made = console.answer("backup:create-collection", "-f", "db.sql.gz", "--storage", "archive", **archive)

    assert "archive" == show(console, made)["storage"]
    console.answer("backup:edit", made, "--storage", "", **archive)
    assert show(console, made)["storage"] is None
    console.answer("backup:edit", made, "--mirror", "archive", **archive)
    assert "archive" == show(console, made)["mirror"]
    assert "--storage: 'nowhere' is not one of the configured storages" in console.refusal(
        "backup:edit", made, "--storage", "nowhere", **archive
    )


def test_a_collection_whose_sender_compresses_shows_the_line_that_mends_it(console):
    collection = console.answer("backup:create-collection", "-f", "shop.sql.gz")
    before = json.loads(console.answer("backup:show", collection, "-f", "json"))
    dump = "--\n-- PostgreSQL database dump\n--\n\nSELECT 1;\n\n--\n-- PostgreSQL database dump complete\n--\n\n"
    (console.folder / "shop.sql.gz").write_bytes(gzip.compress(dump.encode()))
    console.answer("backup:upload", collection, "shop.sql.gz")
    after = json.loads(console.answer("backup:show", collection, "-f", "json"))

    assert (None, None) == (before["compressed_by_sender"], before["to_compact"])
    assert "gzip" == after["compressed_by_sender"]
    assert " -H 'Content-Encoding: gzip' -T - http" in after["to_compact"]
    assert f"/api/v1/collections/{collection}/versions | awk" in after["to_compact"]


def test_a_collection_is_found_by_its_name(console):
    identifier = console.answer("backup:create-collection", "-f", "shop.sql")
    (console.folder / "dump").write_text("a dump")
    console.answer("backup:upload", "shop.sql", "dump")
    console.answer("backup:edit", "shop.sql", "--description", "the shop")

    assert [identifier, "the shop"] == console.answer(
        "backup:show", "shop.sql", "-f", "value", "-c", "Id", "-c", "Description"
    ).split("\n")
    for command in ("backup:versions", "backup:runs", "backup:status", "backup:trash"):
        assert console.answer(command, "shop.sql", "-f", "json") == console.answer(command, identifier, "-f", "json")
    assert "v1" in console.answer("backup:preview", "shop.sql", "-f", "value", "-c", "Version")
    assert "v1" == console.answer("backup:versions", "shop.sql", "-f", "value", "-c", "Version")


def test_what_changes_a_collection_finds_it_by_its_name(console, fingerprint):
    identifier = console.answer("backup:create-collection", "-f", "shop.sql")
    (console.folder / "dump").write_text("a dump")
    console.answer("backup:upload", "shop.sql", "dump")
    for command, *arguments in [
        ("backup:grant", fingerprint),
        ("backup:note", "v1", "the first"),
        ("backup:pin", "v1"),
        ("backup:unpin", "v1"),
        ("backup:delete-version", "v1", "--yes"),
        ("backup:restore-version", "v1"),
        ("backup:download", "v1", "--output", "restored"),
    ]:
        console.answer(command, "shop.sql", *arguments)

    assert identifier in console.answer("auth:show", fingerprint)
    assert fingerprint == console.answer("auth:list", "--collection", "shop.sql", "-f", "value", "-c", "Fingerprint")
    assert "the first" == console.answer("backup:versions", "shop.sql", "-f", "value", "-c", "Note")
    assert "a dump" == (console.folder / "restored").read_text()


def test_a_name_that_several_collections_have_is_refused_with_their_ids(console):
    ids = [console.answer("backup:create-collection", "-f", "shop.sql") for _ in range(2)]

    refusal = console.refusal("backup:delete-collection", "shop.sql", "--yes")

    assert "2 collections are called 'shop.sql': give the id of one" in refusal
    listed = re.search(r"`frepo (.*)` lists them", refusal)[1].split()
    assert sorted(ids) == sorted(row["Id"] for row in json.loads(console.answer(*listed, "-f", "json")))
    assert "no collection has the id or the name 'shop'" in console.refusal("backup:show", "shop")


def test_on_a_terminal_a_new_collection_that_its_name_does_not_find_is_warned_of(console):
    console.answer("backup:create-collection", "-f", "shop.sql")
    warning = "by its name 'shop.sql', give them its id. `frepo backup:list --search"

    assert warning in console.on_terminal("backup:create-collection", "-f", "shop.sql")
    assert warning not in console.on_terminal("backup:create-collection", "-f", "other.sql")


def test_what_looks_like_an_id_is_never_a_name(console):
    other = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb001"
    console.answer("backup:create-collection", "-f", other)

    assert "collection_no_longer_exists" in console.refusal("backup:delete-collection", other, "--yes")
