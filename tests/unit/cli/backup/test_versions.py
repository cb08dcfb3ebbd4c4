"""`backup:upload`, `backup:download`, `backup:versions` and `backup:delete-version`."""

import gzip
import hashlib
import json
import os
import random

import pytest

CONTENT = gzip.compress(b"CREATE TABLE shop;\n" * 100)


@pytest.fixture
def collection(console):
    options = ["-b", "3", "--min-version-size", "30", "--on-suspicious", "keep"]
    return console.answer("backup:create-collection", "-f", "db.sql.gz", *options)


@pytest.fixture
def upload(console, collection):
    def upload(content=CONTENT, **more):
        (console.folder / "dump").write_bytes(content)
        done = console.run("backup:upload", collection, "dump", "-f", "json", **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return upload


def versions(console, collection, *options):
    return json.loads(console.answer("backup:versions", collection, *options, "-f", "json"))


def blobs(console):
    return [path for path in (console.folder / "storage").rglob("*") if path.is_file() and path.stat().st_size > 20]


def test_an_upload_shows_the_new_version(console, collection, upload):
    shown = upload()

    expected = {"collection": collection, "version": "v1", "size": len(CONTENT), "suspicious": False}
    assert expected.items() <= shown.items()
    assert shown["sha256"] == hashlib.sha256(CONTENT).hexdigest()


def test_an_upload_reads_stdin(console, collection):
    console.answer("backup:upload", collection, "-", stdin="a dump of more than thirty bytes\n")

    assert "a dump of more than thirty bytes" == console.answer("backup:download", collection, "--output", "-")


def test_a_large_upload_from_a_pipe_arrives_whole(console, collection):
    content = random.Random(7).randbytes(3 << 20)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        with open(writing, "wb") as pipe:
            pipe.write(content)
        os._exit(0)
    os.close(writing)
    try:
        console.answer("backup:upload", collection, f"/proc/{os.getpid()}/fd/{reading}")
    finally:
        os.close(reading)
        os.waitpid(pid, 0)

    assert versions(console, collection)[0]["SHA-256"] == hashlib.sha256(content).hexdigest()


def test_a_refused_upload_leaves_nothing(console):
    for content, options, message in [
        (b"", [], "empty"),
        (b"x" * 5000, [], "new_version_exceeds_single_element_limit"),
        (b"x" * 5000, [], "`frepo backup:edit ID --max-one-version-size 0` lifts the limit"),
        (b"x" * 50, ["--digest", "ab" * 32], "does not match the digest"),
        (b"x" * 50, ["--digest", "ab"], "--digest: 'ab' is not a SHA-256, which has 64 hexadecimal digits"),
        (b"x" * 50, ["--digest", ""], "--digest: '' is not a SHA-256"),
    ]:
        collection = console.answer("backup:create-collection", "-f", "db.sql.gz", "-o", "4kB")
        (console.folder / "dump").write_bytes(content)

        assert message in console.refusal("backup:upload", collection, "dump", *options)
        assert ([], []) == (versions(console, collection), blobs(console))


def test_a_file_that_cannot_be_read_is_named(console, collection):
    for name in ["missing", "."]:
        assert f"<file>: {name!r} cannot be read" in console.refusal("backup:upload", collection, name)


def test_a_version_is_downloaded_under_its_name(console, collection, upload):
    upload()

    said = console.answer("backup:download", collection)

    assert said == "db-v1.sql.gz"
    assert (console.folder / said).read_bytes() == CONTENT


def test_a_download_replaces_no_file_unless_it_is_told_to(console, collection, upload):
    upload()
    (console.folder / "mine").write_text("mine")

    assert "replace it with --force" in console.refusal("backup:download", collection, "v1", "--output", "mine")
    assert (console.folder / "mine").read_text() == "mine"

    console.answer("backup:download", collection, "first", "--output", "mine", "--force")
    assert (console.folder / "mine").read_bytes() == CONTENT


def test_a_download_of_wrong_bytes_leaves_no_file(console, collection, upload):
    upload(CONTENT + b"\0" * 300_000)
    [blob] = blobs(console)
    blob.chmod(0o600)
    blob.write_bytes(bytes(blob.stat().st_size))
    before = set(console.folder.iterdir())

    done = console.run("backup:download", collection)

    assert (done.returncode, done.stdout) == (1, "")
    assert set(console.folder.iterdir()) == before


def test_versions_are_listed_newest_first_with_what_is_wrong(console, collection, upload):
    upload()
    upload(b"tiny")
    upload(CONTENT[:-10])

    rows = versions(console, collection)

    assert [(row["Version"], row["Suspicious"], row["Checks"]) for row in rows] == [
        ("v3", True, "broken"),
        ("v2", True, "not checked"),
        ("v1", False, "good"),
    ]
    assert "integrity: " in rows[0]["Message"]
    assert ["v3", "v2"] == [row["Version"] for row in versions(console, collection, "--problems")]


def test_a_damaged_version_is_shown_as_damaged(console, collection, upload):
    upload()
    [blob] = blobs(console)
    blob.unlink()
    console.run("storage:verify")

    [row] = versions(console, collection)

    assert (row["Checks"], row["Message"]) == ("damaged", "the bytes are damaged in the storage")
    assert "damaged" in console.refusal("backup:download", collection)


def test_a_record_is_not_mixed_with_the_content(console, collection, upload):
    upload()

    for options in (["-f", "json"], ["-c", "size"]):
        refusal = console.refusal("backup:download", collection, "--output", "-", *options)
        assert "--output: - writes the content to stdout" in refusal
    shown = json.loads(console.answer("backup:download", collection, "--output", "copy", "-f", "json"))
    assert [collection, "v1", "copy", len(CONTENT)] == [
        shown[name] for name in ("collection", "version", "output", "size")
    ]
    assert CONTENT == (console.folder / "copy").read_bytes()


def test_a_version_is_deleted_only_if_that_is_confirmed(console, collection, upload):
    upload()

    assert "--yes: is required" in console.run("backup:delete-version", collection, "v1").stderr
    assert "Deleted version v1" in console.answer("backup:delete-version", collection, "v1", "--yes")
    assert [] == versions(console, collection)


@pytest.mark.costly
def test_versions_are_listed_by_verdict_of_one_collection_and_of_all(console, collection, upload):
    upload()
    upload(CONTENT[:-20])
    other = console.answer("backup:create-collection", "-f", "another.sql.gz")
    for content in (CONTENT, b"not compressed"):
        (console.folder / "dump").write_bytes(content)
        console.answer("backup:upload", other, "dump")

    assert [("v2", "broken")] == [
        (one["Version"], one["Verdict"]) for one in versions(console, collection, "--verdict", "broken")
    ]
    bad = json.loads(console.answer("backup:versions", "--verdict", "broken", "--verdict", "suspicious", "-f", "json"))
    assert [("another.sql.gz", "v2"), ("db.sql.gz", "v2")] == [(one["Name"], one["Version"]) for one in bad]
    for reason, expected in (("shrink", bad[:1]), ("check", bad[1:]), ("kind", [])):
        assert expected == json.loads(console.answer("backup:versions", "--reason", reason, "-f", "json")), reason
    assert ["v2"] == [one["Version"] for one in versions(console, collection, "--reason", "check")]
    assert [other, collection] == [one["Collection"] for one in bad]
    assert all(one["Message"] for one in bad)
    assert versions(console, collection, "--problems")[0]["Checks"] == bad[1]["Checks"] == "broken"
    for options in (["--problems"], ["--problems", "--verdict", "broken", "--verdict", "suspicious"]):
        assert bad == json.loads(console.answer("backup:versions", *options, "-f", "json")), options

    status = json.loads(console.run("backup:status", collection, "-f", "json").stdout)
    assert ("failed", "v1") == (status["state"], status["newest_good"])
    assert status["newest_good_at"]


def test_without_a_collection_an_option_is_needed(console):
    refusal = console.refusal("backup:versions")

    assert "<id>: write it, or --problems, --verdict or --reason for all collections" in refusal
