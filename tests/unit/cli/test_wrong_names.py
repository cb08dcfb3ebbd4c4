"""Wrong names, ids and numbers: the console says what does not exist, and which command lists what does."""

import pytest

VERSION_COMMANDS = {
    "backup:checks": [],
    "backup:delete-version": ["--yes"],
    "backup:download": [],
    "backup:note": ["a note"],
    "backup:pin": [],
    "backup:release": [],
    "backup:unpin": [],
}
OTHER_ID = "1d1f4b9e-52f5-4a8e-9c52-3e7ff0dbb009"
NAMES = [OTHER_ID, "nonsense", "latest"]


@pytest.fixture
def collection(console):
    return console.answer("backup:create-collection", "-f", "db.sql", "--on-suspicious", "mark")


@pytest.mark.costly
def test_a_version_that_does_not_exist_is_named_with_its_collection(console, collection):
    for command, name in [
        *((command, "v9") for command in VERSION_COMMANDS),
        *(("backup:download", name) for name in NAMES),
    ]:
        refusal = console.refusal(command, collection, name, *VERSION_COMMANDS[command])

        assert f"frepo: The collection {collection} has no version {name!r}\n" in refusal
        assert f"`frepo backup:versions {collection}` lists the versions" in refusal
        assert f"`frepo backup:trash {collection}` those that can be restored" in refusal


def test_the_restore_test_of_a_version_that_does_not_exist_names_it(console, collection):
    refusal = console.refusal("backup:test-restore", collection, "--version", "v9", "--command", "cat")

    assert f"frepo: The collection {collection} has no version 'v9'\n" in refusal


def test_words_for_versions_are_said_to_leave_out_the_quarantine(console, collection):
    for number, content in enumerate(("a long dump of the database", "")):
        (console.folder / f"{number}").write_text(content)
    console.answer("backup:edit", collection, "--min-version-size", "5", "--on-suspicious", "quarantine")
    console.run("backup:upload", collection, "1")

    assert "`latest`, `first` and `good` leave out versions in quarantine" in console.refusal(
        "backup:download", collection
    )
    assert "quarantine" not in console.refusal("backup:download", collection, "v9")


def test_a_name_that_no_version_can_have_is_explained(console, collection):
    assert "and it is not one of: v<number>, latest" in console.refusal("backup:download", collection, "newest")


def test_a_version_that_is_not_in_the_trash_is_named_with_the_list_of_the_trash(console, collection):
    for command in ["backup:restore-version", "backup:empty-trash"]:
        options = ["--yes"] if command == "backup:empty-trash" else []

        refusal = console.refusal(command, collection, "v9", *options)
        malformed = console.refusal(command, collection, "latest", *options)

        assert "The version 9 is not in the trash of the collection" in refusal
        assert f"`frepo backup:trash {collection}` lists what is in it" in refusal
        assert "<version>: 'latest' is not v<number>, such as v3, as `frepo backup:trash` lists it" in malformed


FINGERPRINT, TOKEN_ID = "3f9c2a71d0be", "5c1e9a77-40d2-4b1e-9f43-3f4f5c1d2e3a"
NO_FILE = "There is no file 'nonsense'"
REMEDIES = {
    "auth:show nonsense": ("<token>: no token has this name", "`frepo auth:list`"),
    f"auth:show {FINGERPRINT}": (f"No token has the fingerprint {FINGERPRINT}", "`frepo auth:list` lists the tokens"),
    f"auth:revoke {FINGERPRINT}": (f"No token has the fingerprint {FINGERPRINT}", "`frepo auth:list` lists the tokens"),
    "backup:grant {id} nonsense": ("<token>: write the fingerprint", "`frepo auth:list` lists the tokens"),
    f"backup:grant {{id}} {FINGERPRINT}": (FINGERPRINT, "`frepo auth:list` lists the tokens"),
    f"backup:revoke {{id}} {TOKEN_ID}": ("no token with this id", "`frepo auth:list` lists the tokens"),
    "backup:restore-collection nonsense": (
        "no deleted collection 'nonsense'",
        "`frepo backup:deleted-collections` lists",
    ),
    f"backup:end-deleted-collection {OTHER_ID} --yes": (OTHER_ID, "`frepo backup:deleted-collections` lists"),
    "alias:delete nonsense": ("There is no alias 'nonsense'", "`frepo alias:list` lists the aliases"),
    "alias:set manual.txt nonsense": (NO_FILE, "`frepo file:list` shows it"),
    "file:show nonsense": (NO_FILE, "`frepo file:list` shows it"),
    "events --collection nonsense": (
        "--collection: no collection has the id or the name 'nonsense'",
        "`frepo backup:list -c Name -c Id`",
    ),
    "events --actor nonsense": ("--actor: 'nonsense' is not", "console:<user>, system:<job> or anonymous"),
    "events:retry nonsense": ("'nonsense' is not the number of an event", "`frepo events:parked` lists"),
    "events:retry 7": ("No parked event has the number 7", "`frepo events:parked` lists"),
    "events:parked --subscriber nonsense": (
        "No subscription has the name 'nonsense'",
        "`frepo events:subscriptions` lists",
    ),
    "events:retry --all --subscriber nonsense": (
        "No subscription has the name 'nonsense'",
        "`frepo events:subscriptions` lists",
    ),
    "events:unsubscribe nonsense": ("No subscription has the name 'nonsense'", "`frepo events:subscriptions` lists"),
    "jobs:run nonsense": ("There is no job 'nonsense'", "Jobs: catalogue, compact, database"),
    "plugins --settings nonsense": ("No installed plug-in is named 'nonsense'", "Installed: "),
}


@pytest.mark.costly
def test_a_wrong_name_is_said_with_the_command_that_lists_the_right_ones(console, collection):
    for line, (wrong, remedy) in REMEDIES.items():
        refusal = console.refusal(*line.format(id=collection).split())

        assert wrong in refusal and remedy in refusal, refusal


def test_the_id_of_a_token_is_not_repeated(console, collection):
    for command in ("auth:show", "auth:revoke"):
        assert TOKEN_ID not in console.refusal(command, TOKEN_ID)
    assert TOKEN_ID not in console.refusal("backup:grant", collection, TOKEN_ID)
