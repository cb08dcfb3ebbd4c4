"""HTTP API, 2.1: names of uploads: accepted and refused ones."""

import re
import unicodedata
from urllib.parse import urlencode, urlsplit

import pytest

from support.answers import HELLO

BAD_NAME = "File name is not valid, please normalize it"


def test_the_name_may_be_in_the_path_or_the_part_of_a_form(uploader):
    answer = uploader.call("POST", "/repository/file/a%20(1)+b.txt", body=b"hello")
    assert answer.json["filename"] == f"{HELLO[:10]}a (1)+b.txt"
    assert uploader.send_form(("file", "own.txt", b"hello")).json["requested_filename"] == "own.txt"
    assert set(uploader.call("POST", "/repository/file/upload", body=b"hello").json["fields"]) == {"form.fileName"}


def test_these_names_are_allowed(uploader):
    for name in ["a", "a" * 200, "A-Z.0_9+ ()[]!,@$.txt", "...", ".htaccess", "a b"]:
        assert uploader.upload(name.encode(), name).json["requested_filename"] == name


def test_another_name_is_refused_wherever_it_is(uploader):
    for name in ["", " ", ".", "..", " a", "a ", "a/b", "../a", "a\\b", "a\0b", "a\nb", "a\n", 'a"b', "a<b", "a>b"] + [
        "a;b",
        "a?b",
        "a:b",
        "a*b",
        "a|b",
        "a" * 201,
        "ż" * 201,
        "a" * 10_000,
        "\N{SNOWMAN}",
        "a\u202eb",
        "\u3000a",
    ]:
        answer = uploader.upload(b"hello", name)
        assert (answer.status_int, answer.json["fields"]) == (400, {"form.fileName": [BAD_NAME]}), name

    assert uploader.upload(b"hello", "a/b").json["status"] == "Validation error"
    answer = uploader.call("POST", "/repository/file/a*b", body=b"hello")
    assert answer.json["fields"] == {"form.fileName": [BAD_NAME]}


NAMES = [
    ("żółw zdjęcie.png", "zolw_zdjecie.png", "%C5%BC%C3%B3%C5%82w%20zdj%C4%99cie.png"),
    ("Mike's cat.png", "Mike_s_cat.png", "Mike%27s%20cat.png"),
    ("a&b.png", "a_b.png", "a%26b.png"),
    ("100%.png", "100_.png", "100%25.png"),
    ("北京-文件.sql.gz", "BeiJing-WenJian.sql.gz", "%E5%8C%97%E4%BA%AC-%E6%96%87%E4%BB%B6.sql.gz"),
]


@pytest.mark.databases
@pytest.mark.parametrize(("name", "stored", "encoded"), NAMES)
def test_a_name_of_any_script_is_kept_and_stored_in_ascii(app, uploader, root, name, stored, encoded):
    nfd = unicodedata.normalize("NFD", name)

    answer = uploader.upload(b"hello", nfd, public="true").json

    assert (answer["filename"], answer["requested_filename"]) == (HELLO[:10] + stored, name)
    download = app.get(urlsplit(answer["url"]).path)
    assert download.headers["Content-Disposition"] == (f"inline; filename=\"{stored}\"; filename*=UTF-8''{encoded}")
    [row] = root.call("GET", "/repository").json["results"]
    assert (row["filename"], row["requested_filename"]) == (HELLO[:10] + stored, name)


@pytest.mark.databases
def test_a_name_without_letters_has_a_stored_name(app, uploader):
    for name in ["\u0301", "'", "\u0e47\u0e48"]:
        answer = uploader.upload(b"hello", name).json

        assert app.get(urlsplit(answer["url"]).path).body == b"hello", name
        assert re.fullmatch(HELLO[:10] + r"[a-zA-Z0-9._-]+", answer["filename"]), name


@pytest.mark.databases
def test_the_longest_names_of_files_and_versions_fit(uploader, root, make_collection):
    for character in ["ż", "\ufdfa", "\U00020000", "北"]:
        name = character * 193 + ".sql.gz"

        file = uploader.upload(b"hello", name).json
        versions = f"/repository/collection/{make_collection(filename=name)}/backup"
        version = root.call("POST", versions, body=b"a dump").json["version"]["file"]

        assert file["requested_filename"] == name, character
        assert file["filename"].endswith(".sql.gz"), character
        assert version["filename"].endswith("-v1.sql.gz"), character


@pytest.mark.databases
def test_a_file_is_found_by_either_name(uploader, root):
    uploader.upload(b"hello", "żółw's zdjęcie.png", public="true")
    for search, is_found in [
        ("zdjęcie", True),
        ("zdje\u0328cie", True),
        ("ół", True),
        ("żółw's", True),
        ("w's z", True),
        ("'", True),
        ("zolw", True),
        ("ZOLW_s", True),
        ("żółć", False),
        ("źolw", False),
        ("w zdj", False),
        ("%", False),
    ]:
        answer = root.call("GET", "/repository?" + urlencode({"searchQuery": search}))

        assert len(answer.json["results"]) == is_found
