"""Contract 2.1: the names that an upload asks for, and which of them are refused."""

import pytest

from web.words import HELLO

BAD_NAME = "File name is not valid, please normalize it"


def test_the_name_may_be_in_the_path(uploader):
    answer = uploader.call("POST", "/repository/file/a%20(1)+b.txt", body=b"hello")

    assert answer.json["filename"] == f"{HELLO[:10]}a (1)+b.txt"


@pytest.mark.parametrize("name", ["a", "a" * 200, "A-Z.0_9+ ()[]!,@$.txt", "...", ".htaccess", "a b"])
def test_these_names_are_allowed(uploader, name):
    answer = uploader.upload(b"hello", name)

    assert answer.json["filename"] == HELLO[:10] + name


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", " a", "a ", "a/b", "../a", "a\\b", "a\0b", "a\nb", "a\n", "\xfc", "a%b", "a'b", 'a"b', "a<b"]
    + ["a;b", "a&b", "a#b", "a?b", "a:b", "a*b", "a|b", "a~b", "a" * 201, "a" * 10_000, "\N{SNOWMAN}", "\u0661"],
)
def test_any_other_name_is_refused(uploader, name):
    answer = uploader.upload(b"hello", name)

    assert (answer.status_int, answer.json["fields"]) == (400, {"form.fileName": [BAD_NAME]})


def test_a_refused_name_is_a_validation_error(uploader):
    answer = uploader.upload(b"hello", "a/b")

    assert answer.json["status"] == "Validation error"


def test_a_refused_name_in_the_path_is_told_alike(uploader):
    answer = uploader.call("POST", "/repository/file/a*b", body=b"hello")

    assert answer.json["fields"] == {"form.fileName": [BAD_NAME]}


def test_without_a_name_the_parts_own_name_counts(uploader):
    answer = uploader.send_form(("file", "own.txt", b"hello"))

    assert answer.json["requested_filename"] == "own.txt"


def test_without_any_name_the_upload_is_refused(uploader):
    answer = uploader.call("POST", "/repository/file/upload", body=b"hello")

    assert set(answer.json["fields"]) == {"form.fileName"}
