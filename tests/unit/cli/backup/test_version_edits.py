"""`backup:pin`, `backup:unpin`, `backup:note` and `backup:release`, and the defaults of new collections."""

import gzip
import json
import random

import pytest

DUMP = gzip.compress(random.Random(3).randbytes(900))


@pytest.fixture
def collection(console):
    return console.answer("backup:create-collection", "-f", "db.sql.gz", "-b", "3", "--min-version-size", "30")


@pytest.fixture
def upload(console, collection):
    def upload(content=DUMP):
        (console.folder / "dump").write_bytes(content)
        return json.loads(console.answer("backup:upload", collection, "dump", "-f", "json"))

    return upload


def rows(console, command, *arguments):
    return json.loads(console.answer(command, *arguments, "-f", "json"))


def test_a_pinned_version_is_shown_and_kept(console, collection, upload):
    upload()
    said = console.answer("backup:pin", collection, "v1", "--note", "before the move")
    shown = rows(console, "backup:versions", collection)[0]

    assert f"Pinned version v1 of {collection}" == said
    assert (True, "", "before the move") == (shown["Pinned"], shown["Quarantine"], shown["Note"])
    assert 1 == rows(console, "backup:show", collection)["pinned"] == rows(console, "backup:list")[0]["Pinned"]
    refused = console.run("backup:delete-version", collection, "v1", "--yes")
    assert (1, True) == (refused.returncode, "A pinned version is not deleted: unpin it first" in refused.stderr)

    console.answer("backup:unpin", collection, "v1")
    console.answer("backup:note", collection, "v1", "")

    shown = rows(console, "backup:versions", collection)[0]
    assert (False, "") == (shown["Pinned"], shown["Note"])
    kinds = [
        kind
        for (kind,) in console.rows(
            "SELECT kind FROM event WHERE kind LIKE '%pinned' OR kind LIKE '%noted' ORDER BY id"
        )
    ]
    assert ["version.pinned", "version.noted", "version.unpinned", "version.noted"] == kinds


@pytest.mark.costly
def test_a_suspicious_version_is_quarantined_and_released(console, collection, upload):
    upload()
    added = upload(b"empty")
    shown = rows(console, "backup:versions", collection, "--problems")[0]

    assert (True, True) == (added["suspicious"], added["quarantined"])
    assert ("v2", "new_version_is_smaller_than_the_minimum") == (shown["Version"], shown["Quarantine"])
    assert "| size " in console.answer("backup:versions", collection, "--problems")
    [listed] = rows(console, "backup:list", "--state", "suspicious", "--search", "DB")
    status = json.loads(console.run("backup:status", collection, "-f", "json").stdout)
    assert ("v1", status["last_version_at"]) == (listed["Last version"], listed["Arrived"])
    assert shown["Message"].startswith("The version is smaller than --min-version-size of the collection")
    console.change("UPDATE collection SET baseline = '{\"unchanged_nights\": 19}'")
    status = json.loads(console.run("backup:status", collection, "-f", "json").stdout)
    assert ("v1", 1, "suspicious") == tuple(status[name] for name in ("last_version", "quarantined", "state"))
    assert (19, 19) == (status["unchanged_nights"], rows(console, "backup:show", collection)["unchanged_nights"])
    assert (["v2"], shown["Message"]) == (status["suspicious"], status["suspicious_because"])

    assert f"Released version v2 of {collection}" == console.answer("backup:release", collection, "v2")

    assert f"Version v2 of {collection} is not in quarantine." in console.refusal("backup:release", collection, "v2")
    assert [] == rows(console, "backup:versions", collection, "--problems")


def test_a_release_says_what_was_evicted_for_it_and_what_a_check_had_found(console, collection, upload):
    console.answer("backup:edit", collection, "--on-suspicious", "keep", "-b", "2")
    for content in (DUMP, DUMP + DUMP, DUMP[:-9], DUMP[:-20]):
        (console.folder / "dump").write_bytes(content)
        assert 0 == console.run("backup:upload", collection, "dump").returncode
    [found] = [one["Message"] for one in rows(console, "backup:checks", collection, "v3") if one["Outcome"] == "broken"]

    said = f"Released version v3 of {collection}; evicted for it: v1. The check integrity found: {found}"
    assert f"{said}. It is the newest good version now" == console.answer("backup:release", collection, "v3")
    assert f"Released version v4 of {collection}; evicted for it: v2. The check integrity found: " in (
        console.answer("backup:release", "--all", "--broken", "--reason", "check")
    )


@pytest.mark.costly
def test_all_versions_in_quarantine_for_a_reason_are_released(console, collection, upload):
    upload()
    for content in (b"empty", b"none"):
        upload(content)
    other = console.answer("backup:create-collection", "-f", "other.sql.gz", "--min-version-size", "30")
    (console.folder / "dump").write_bytes(b"small")
    console.answer("backup:upload", other, "dump")

    assert "No version is in quarantine for the reason 'check integrity'" == console.answer(
        "backup:release", "--all", "--reason", "check integrity"
    )
    assert f"Released version v2 of {collection}\nReleased version v3 of {collection}" == console.answer(
        "backup:release", "--all", "--reason", "size", collection
    )
    assert {"released": [f"v1 of {other}"], "not_released": []} == rows(
        console, "backup:release", "--all", "--reason", "size"
    )
    for wrong in (
        ["--all"],
        [],
        [collection],
        ["--all", "--reason", "size", other, "v1"],
        [other, "v1", "--reason", "x"],
    ):
        assert "--all: " in console.refusal("backup:release", *wrong), wrong


def test_broken_versions_are_not_released_with_the_others_by_accident(console, collection, upload):
    upload()
    for content in (b"empty", b"none"):
        upload(content)
    console.change("UPDATE version SET verdict = 'broken', verdict_reason = 'It is cut' WHERE number = 2")

    done = console.run("backup:release", "--all", "--reason", "size")

    assert 1 == done.returncode
    assert [
        f"Released version v3 of {collection}",
        f"Not released: v2 of {collection}: it is broken: It is cut",
    ] == done.stdout.splitlines()
    assert f"Released version v2 of {collection}" == console.answer(
        "backup:release", "--all", "--broken", "--reason", "size"
    )


def test_a_version_that_cannot_be_released_with_the_others_is_named(console, collection, upload):
    console.answer("backup:edit", collection, "-b", "1")
    for content in (DUMP, b"empty", DUMP):
        upload(content)

    refused = console.run("backup:release", "--all", "--reason", "size")

    assert 1 == refused.returncode
    assert refused.stdout.startswith(f"Not released: v2 of {collection}: ")


def test_hosts_of_a_fleet_have_the_same_guards_and_wrong_actions_are_refused(console):
    (console.folder / "hosts.csv").write_text("name,on_suspicious\nweb1,\nweb2,mark\n")
    console.answer("fleet:create", "--from", "hosts.csv", "--filename", "{name}.tar")
    found = {
        row["Name"]: rows(console, "backup:show", row["Id"])["on_suspicious"] for row in rows(console, "backup:list")
    }

    assert {"web1.tar": "quarantine", "web2.tar": "mark"} == found
    (console.folder / "hosts.csv").write_text("name,on_suspicious\nweb3,drop\n")
    refused = console.run("fleet:create", "--from", "hosts.csv", "--filename", "{name}.tar")
    assert (1, True) == (refused.returncode, "'drop' is not one of refuse, mark, quarantine" in refused.stderr)


def test_pins_are_listed_with_their_ends_and_reasons(console, collection, upload):
    assert [] == rows(console, "backup:pins")
    upload()
    said = console.answer("backup:pin", collection, "v1", "--until", "2099-12-31", "--reason", "the law")
    assert f"Pinned version v1 of {collection} until 2099-12-31 00:00:00 UTC" == said
    pinned = rows(console, "backup:pins")[0]
    assert (collection, "db.sql.gz", "v1", "2099-12-31T00:00:00+00:00", "the law") == (
        pinned["Collection"],
        pinned["Name"],
        pinned["Version"],
        pinned["Until"],
        pinned["Reason"],
    )

    console.answer("backup:pin", collection, "v1", "--until", "never")
    assert (None, "the law") == (rows(console, "backup:pins")[0]["Until"], rows(console, "backup:pins")[0]["Reason"])
    console.answer("backup:pin", collection, "v1", "--until", "90d")
    assert rows(console, "backup:versions", collection)[0]["Pinned until"] > "2026"
    for wrong in ("tomorrow", "2001-01-01", "99999999999d"):
        assert 1 == console.run("backup:pin", collection, "v1", "--until", wrong).returncode, wrong


def test_a_collection_is_locked(console, collection, upload):
    upload()
    said = console.answer("backup:lock", collection, "30d", "--yes")
    assert f"Locked each version of {collection} for 30d" == said
    assert "30d" == rows(console, "backup:show", collection)["locked"]
    version = rows(console, "backup:versions", collection)[0]
    assert version["Locked until"] > version["Time"]
    shorter = console.run("backup:lock", collection, "29d", "--yes")
    assert (1, True) == (shorter.returncode, "never shortened or removed" in shorter.stderr)
    for wrong in ("0", "soon", "40000d"):
        assert 1 == console.run("backup:lock", collection, wrong, "--yes").returncode, wrong
    refused = console.run("backup:delete-version", collection, "v1", "--yes")
    assert (1, True) == (refused.returncode, "is locked until" in refused.stderr)
    assert 1 == console.run("backup:lock", collection, "60d").returncode  # nobody said yes
