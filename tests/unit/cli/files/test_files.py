"""The commands `file:*`."""

import json

import pytest


@pytest.fixture
def name(console):
    (console.folder / "note.txt").write_text("hello\n")
    shown = console.answer("file:upload", "note.txt", "--tag", "notes", "--public", "-f", "json")
    return json.loads(shown)["name"]


def test_an_uploaded_file_is_listed_and_shown(console, name):
    [row] = json.loads(console.answer("file:list", "--search", "note", "--tag", "notes", "-f", "json"))
    shown = json.loads(console.answer("file:show", name, "-f", "json"))

    assert (row["Name"], row["Tags"], row["Public"], row["Size"]) == (name, ["notes"], True, 6)
    assert (shown["requested_name"], shown["path"]) == ("note.txt", f"/repository/file/{name}")
    assert shown["address"] == f"http://127.0.0.1:6543/repository/file/{name}"


@pytest.mark.parametrize("listen", ["127.0.0.1:7000", "0.0.0.0:7000", "*:7000"])
def test_the_address_has_the_port_of_make_serve(console, listen):
    (console.folder / "note.txt").write_text("hello\n")
    shown = json.loads(console.answer("file:upload", "note.txt", "-f", "json", FREPO_LISTEN=listen))

    assert shown["address"] == f"http://127.0.0.1:7000/repository/file/{shown['name']}"


def test_an_upload_says_under_which_address_the_file_is(console):
    (console.folder / "note.txt").write_text("hello\n")
    shown = json.loads(console.answer("file:upload", "note.txt", "-f", "json", APP_DOMAIN="files.example.org"))

    assert shown["address"] == f"https://files.example.org/repository/file/{shown['name']}"


def test_files_of_other_tags_and_types_are_not_listed(console, name):
    assert "[]" == console.answer("file:list", "--tag", "other", "-f", "json")
    assert "[]" == console.answer("file:list", "--type", "image/png", "-f", "json")


def test_the_same_content_is_stored_once(console, name):
    again = json.loads(console.answer("file:upload", "note.txt", "-f", "json"))

    assert (again["name"], again["existed"]) == (name, True)


def test_stdin_needs_a_name(console):
    assert "--name: is required" in console.refusal("file:upload", "-", stdin="a")
    assert "a.txt" in console.answer("file:upload", "-", "--name", "a.txt", stdin="a")


def test_a_password_and_a_content_cannot_both_come_from_stdin(console):
    assert "same stdin" in console.refusal("file:upload", "-", "--name", "a", "--password", "-", stdin="a")


def test_a_download_gets_the_name_of_the_upload(console, name):
    (console.folder / "note.txt").unlink()

    assert "note.txt" == console.answer("file:download", name)
    assert (console.folder / "note.txt").read_text() == "hello\n"


def test_a_deleted_file_is_gone(console, name):
    assert "--yes: is required" in console.run("file:delete", name).stderr

    assert "Deleted" in console.answer("file:delete", name, "--yes")
    assert "frepo file:list" in console.refusal("file:show", name)


def test_the_file_of_a_version_is_not_deleted(console):
    collection = console.answer("backup:create-collection", "-f", "a.txt")
    console.answer("backup:upload", collection, "-", stdin="content")
    [version] = json.loads(console.answer("backup:versions", collection, "-f", "json"))

    assert "delete the version instead" in console.refusal("file:delete", version["File"], "--yes")
