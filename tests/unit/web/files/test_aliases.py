import logging
import os

import pytest

from frepo_core.errors import ConfigurationError
from frepo_core.services.files.aliases import Aliases
from support.wire import eventually


@pytest.fixture
def mapping(tmp_path):
    return tmp_path / "ids_mapping.yaml"


@pytest.fixture
def file(app, admin):
    return app.post(f"/repository/file/upload?fileName=a.txt&_token={admin}", b"content").json["filename"]


def test_an_alias_is_another_name_for_downloads(app, file, mapping):
    for prefix in ["/repository/file", "/public/download"]:
        mapping.write_text(f"nice.txt: {file}\n")
        got, head = app.get(f"{prefix}/nice.txt"), app.head(f"{prefix}/nice.txt")
        assert (got.body, head.headers["ETag"]) == (b"content", got.headers["ETag"]), prefix

    mapping.write_text(f"nice.txt: {file}\n")
    assert app.get(f"/repository/file/{file}").body == b"content"


def test_an_alias_of_a_protected_file_requires_its_password(app, admin, mapping):
    name = app.post(f"/repository/file/upload?fileName=b&password=word-5ecre7&_token={admin}", b"x").json["filename"]
    mapping.write_text(f"nice: {name}\n")

    app.get("/repository/file/nice", status=403)
    assert app.get("/repository/file/nice?password=word-5ecre7").body == b"x"


def test_an_alias_of_a_version_gives_no_access(app, admin, mapping):
    form = {"filename": "db.sql"}
    collection = app.post_json(f"/repository/collection?_token={admin}", form, status=202).json["collection"]["id"]
    added = app.post(f"/repository/collection/{collection}/backup?_token={admin}", b"SELECT 1;")
    mapping.write_text(f"nice: {added.json['version']['file']['filename']}\n")

    app.get("/repository/file/nice", status=403)


def test_an_alias_cannot_be_deleted(app, admin, file, mapping):
    mapping.write_text(f"nice: {file}\n")

    app.delete(f"/repository/file/nice?_token={admin}", status=404)


def test_an_alias_of_any_script_is_found_in_either_form(app, file, mapping):
    for written in ["zdje\u0328cie.png", "zdj\u0119cie.png"]:
        for asked in ["zdje%CC%A8cie.png", "zdj%C4%99cie.png"]:
            mapping.write_text(f"{written}: {file}\n")

            assert app.get(f"/repository/file/{asked}").body == b"content"


def test_a_missing_or_empty_file_defines_no_alias(mapping):
    assert Aliases(mapping).resolve("nice") == "nice"

    for text in ["", "# nothing\n", "---\n"]:
        mapping.write_text(text)
        assert Aliases(mapping).resolve("nice") == "nice", text


def test_numbers_are_valid_aliases(mapping):
    mapping.write_text("007: 1e3\ntrue: 0x10\n")
    aliases = Aliases(mapping)

    assert [aliases.resolve(name) for name in ("007", "7", "true")] == ["1e3", "7", "0x10"]


def test_the_file_is_not_checked_for_each_download(mapping):
    aliases = Aliases(mapping, check_seconds=3600)
    aliases.resolve("nice")

    mapping.write_text("nice: one\n")

    assert aliases.resolve("nice") == "nice"


def test_a_changed_file_is_noticed(mapping):
    mapping.write_text("nice: one\n")
    aliases = Aliases(mapping)
    before = aliases.resolve("nice")

    mapping.write_text("nice: other\n")

    assert (before, eventually("other", lambda: aliases.resolve("nice"))) == ("one", "other")


def test_each_change_of_the_file_is_read(mapping):
    """Also that it came, was broken and mended, and is gone."""
    aliases = Aliases(mapping, check_seconds=0)
    for text, found in [("nice: one\n", "one"), ("nice: [\n", "one"), ("nice: mended\n", "mended"), (None, "nice")]:
        mapping.write_text(text) if text else mapping.unlink()
        assert aliases.resolve("nice") == found, text


def test_a_replaced_file_is_noticed_despite_equal_times(mapping, tmp_path):
    mapping.write_text("nice: one\n")
    aliases, times = Aliases(mapping, check_seconds=0), mapping.stat()
    other = tmp_path / "other"
    other.write_text("nice: two\n")
    os.utime(other, ns=(times.st_atime_ns, times.st_mtime_ns))

    other.replace(mapping)

    assert aliases.resolve("nice") == "two"


BROKEN = {
    "no map": ("a: b\n", "- a\n- b\n", 1),
    "a syntax error": ("a: b\n", "a: b\nc: [\n", 3),
    "a list for a name": ("a: b\n", "a: b\nc: [d]\n", 2),
    "a name without a value": ("a: b\n", "# x\na: b\nc:\n", 3),
    "an alias that is there twice": ("a: b\n", "a: b\n\nc: d\na: e\n", 4),
    "a second document": ("a: b\n", "a: b\n---\nc: d\n", 2),
    "a character that YAML forbids": ("a: b\n", "a: b\nc: d\ne: \x00\n", 3),
    "a byte that is not UTF-8": ("a: b\n", b"a: b\nc: \xff\n", 2),
    "an anchor that is not there": ("a: b\n", "a: b\nc: *d\n", 2),
    "nesting without end": ("a: b\n", "c: " + "[" * 600 + "\n", 1),
}


def write(mapping, text):
    mapping.write_bytes(text if isinstance(text, bytes) else text.encode())


def test_a_broken_file_stops_the_start_and_its_line_is_named(mapping):
    for _, text, line in BROKEN.values():
        write(mapping, text)

        with pytest.raises(ConfigurationError, match=rf"IDS_MAPPING_FILE.*line {line}: \S"):
            Aliases(mapping)


def test_a_file_broken_later_keeps_the_old_aliases_and_is_logged_once(mapping, caplog):
    for case, (good, text, line) in BROKEN.items():
        write(mapping, good)
        caplog.clear()
        aliases = Aliases(mapping, check_seconds=0)

        write(mapping, text)
        with caplog.at_level(logging.ERROR):
            resolved = [aliases.resolve("a"), aliases.resolve("a")]

        assert resolved == ["b", "b"]
        assert [f"line {line}:" in record.message for record in caplog.records] == [True], case


def test_a_folder_instead_of_the_file_is_refused(mapping):
    mapping.mkdir()

    with pytest.raises(ConfigurationError, match="IDS_MAPPING_FILE"):
        Aliases(mapping)
