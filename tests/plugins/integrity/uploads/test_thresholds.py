"""Each threshold of the verdict, one below and one above: the last good versions stay, in collections of both APIs."""

import bz2
import gzip
import hashlib
import lzma
import re
from itertools import cycle

import pytest

from frepo_integrity import messages
from frepo_integrity.formats import sql_dump
from support.compressors import tar_of

V1 = "/api/v1/collections"
KIND, SHRANK, CHECK = "new_version_is_of_another_kind", "new_version_shrank_too_much", "check integrity"
LIMIT = 3


def postgres(rows=b""):
    return (
        b"--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 17.6\n\n%s\n"
        b"--\n-- PostgreSQL database dump complete\n--\n\n" % rows
    )


def log(lines, *, failure=1, letters=None):
    """Return an error log of so many lines and letters, with its first error in this line."""
    text = [f"worker {number} stopped" for number in range(1, lines + 1)]
    text[failure - 1] = "pg_dump: error: connection to server failed"
    made = "\n".join(text)
    return (made if letters is None else made.ljust(letters, ".")).encode()


USUAL = {
    "dumps": [postgres(b"%d" % number * 200) for number in range(3)],
    "dumps in gzip": [gzip.compress(postgres(b"%d" % number * 200)) for number in range(3)],
    "archives": [tar_of(b"%d" % number) for number in range(3)],
    "archives in gzip": [gzip.compress(tar_of(b"%d" % number)) for number in range(3)],
}
NO_BACKUPS = {
    "an error log of 25 lines": log(25),
    "an error log of 26 lines": log(26),
    "an error log of 2,000 lines": log(2000),
    "an error log of 4,000 letters": log(20, letters=4000),
    "an error log of 4,001 letters": log(20, letters=4001),
    "an error in the fifth line": log(20, failure=5),
    "an error in the sixth line": log(20, failure=6),
    "a text without an error": b"done\n",
    "a line end": b"\n",
    "a letter": b"x",
    "zeros": bytes(5000),
    "bytes of no format": bytes(range(1, 256)) * 40,
}


@pytest.fixture
def make(root):
    """Make a collection with room for three versions by either API; return its id."""

    def make(api):
        if api == "first":
            return root.create(filename="nightly", maxBackupsCount=LIMIT).json["collection"]["id"]
        return root.post(V1, {"name": "nightly", "limits": {"versions": LIMIT}}).json["id"]

    return make


@pytest.fixture
def push(root):
    """Upload by the API that made the collection; return why the version is in quarantine."""

    def push(api, collection, content):
        if api == "first":
            answer = root.push(collection, content)
            assert 200 == answer.status_int, answer.json
            return answer.json["version"]["quarantine_reason"]
        return root.call("PUT", f"{V1}/{collection}/versions", body=content).json["quarantine_reason"]

    return push


@pytest.fixture
def good(root):
    """The numbers of the versions that are not in quarantine, and the one that is the latest."""

    def good(collection):
        found = root.get(f"{V1}/{collection}/versions?sort=number").json["items"]
        latest = root.get(f"{V1}/{collection}/versions/latest").json["number"]
        return [one["number"] for one in found if not one["quarantined"]], latest

    return good


@pytest.mark.parametrize(("usual", "api"), [*zip(USUAL, cycle(["first", "second"]), strict=False)])
def test_what_is_no_backup_never_pushes_out_those_that_are(make, push, good, usual, api):
    collection = make(api)
    assert [None] * 3 == [push(api, collection, one) for one in USUAL[usual]]

    for what, content in NO_BACKUPS.items():
        for sent in (content, gzip.compress(content + b" ")):
            assert push(api, collection, sent) in {KIND, CHECK, SHRANK}, what

    assert ([1, 2, 3], 3) == good(collection)


@pytest.mark.parametrize("settings", [{"integrity.inline_limit": "1000"}])
def test_neither_does_what_is_large(make, push, good, run_job):
    collection = make("first")
    for one in USUAL["archives in gzip"]:
        push("first", collection, one)
    for size in (999, 1000, 1001, 5000):
        for content in (log(20, letters=size), bytes(size), b"\xff\xfe" + bytes(size), bytes([1, 2, 3]) * size):
            push("first", collection, content)
            run_job()

            assert ([1, 2, 3], 3) == good(collection), (size, content[:10])


UNKNOWN = [b"dn: dc=example,dc=org\ndescription: %d\n" % number * 200 for number in range(3)]
MESSAGES = {
    "a message": b"slapcat: could not open the database\n",
    "a page": b"<html>\r\n<head><title>502 Bad Gateway</title></head></html>\r\n",
    "a line end": b"\n",
    "zeros": bytes(5000),
}


@pytest.mark.parametrize(("api", "pack"), [("first", bytes), ("second", gzip.compress)], ids=["plain", "gzip"])
def test_neither_does_a_message_push_out_versions_of_an_unknown_format(make, push, good, api, pack):
    collection = make(api)
    assert [None] * 3 == [push(api, collection, pack(one)) for one in UNKNOWN]

    for what, content in MESSAGES.items():
        assert push(api, collection, pack(content)) in {KIND, SHRANK}, what
    if pack is not bytes:
        assert push(api, collection, log(26)) in {KIND, SHRANK}

    assert ([1, 2, 3], 3) == good(collection)


def test_a_log_may_have_an_error_on_any_night(root, push, good):
    collection = root.create(filename="nightly.log", maxBackupsCount=LIMIT).json["collection"]["id"]

    contents = [*UNKNOWN, log(3), log(30), b"<html>", log(5)]
    assert [None] * 7 == [push("first", collection, one) for one in contents]


@pytest.mark.parametrize(("usual", "api"), [*zip(USUAL, cycle(["second", "first"]), strict=False)])
def test_one_version_that_is_a_backup_is_enough(make, push, good, usual, api):
    collection = make(api)
    first = [log(26)] if api == "first" else []  # nothing is known about the collection yet
    for content in (*first, USUAL[usual][0]):
        assert push(api, collection, content) is None

    for what, content in NO_BACKUPS.items():
        assert push(api, collection, content) in {KIND, CHECK, SHRANK}, what

    numbers = list(range(1, len(first) + 2))
    assert (numbers, numbers[-1]) == good(collection)


BINARY = [bytes([0, 1, 2, number]) * 3000 for number in range(3)]
TEXT = [b"id,name\n" + b"%d,somebody\n" % number * 1000 for number in range(3)]
# How many versions there were, of what, what comes, and whether it is odd.
OF_NO_FORMAT = {
    "a text after one that is none": (BINARY[:1], log(26, failure=20), True),
    "a text after three that are none": (BINARY, b"nothing to do\n", True),
    "what happens to have no control character after one that has": (BINARY[:1], bytes(range(160, 256)) * 40, False),
    "a message after one text": (TEXT[:1], log(3), True),
    "a long message after one text": (TEXT[:1], log(26), True),
    "a small text with an error somewhere": (TEXT, log(26, failure=20), True),
    "a small text without an error": (TEXT, b"id,name\n1,somebody\n", False),
    "half of the size, with an error somewhere": (TEXT, log(26, failure=20, letters=len(TEXT[0]) // 2), False),
    "less, with an error somewhere": (TEXT, log(26, failure=20, letters=len(TEXT[0]) // 2 - 1), True),
    "what is no text after texts": (TEXT, BINARY[0], False),
    "another text": (TEXT, TEXT[0] + b"more\n", False),
    "what is not compressed after two that are": ([gzip.compress(one) for one in TEXT[:2]], TEXT[2], False),
    "what is not compressed after three that are": ([gzip.compress(one) for one in TEXT], TEXT[2], True),
    "a text that is compressed after one that is none": ([gzip.compress(BINARY[0])], gzip.compress(TEXT[0]), True),
}


@pytest.mark.parametrize("what", OF_NO_FORMAT)
def test_versions_of_an_unknown_format_are_compared_by_what_they_look_like(make, push, what):
    usual, content, is_odd = OF_NO_FORMAT[what]
    collection = make("first")
    assert [None] * len(usual) == [push("first", collection, one) for one in usual]

    assert (KIND if is_odd else None) == push("first", collection, content)


@pytest.mark.parametrize("settings", [{"integrity.inline_limit": "1000"}])
def test_a_dump_whose_check_has_not_ended_says_what_a_collection_is_of(make, push, good, run_job):
    collection = make("first")
    large = postgres(b"x" * 5000)
    assert push("first", collection, large) is None

    assert [KIND] * 2 == [push("first", collection, log(26)), push("first", collection, b"no dump")]
    run_job()

    assert ([1], 1) == good(collection)


def varied(rows):
    """Return so many rows that no compression makes small, as a dump has them."""
    return b"".join(hashlib.sha256(b"%d" % row).hexdigest().encode() + b"\n" for row in range(rows))


# What waits for its check, what comes then, and how both are sent.
AWAITED = {
    "a log after a dump in gzip": (postgres(varied(100)), log(26), gzip.compress),
    "a text after a dump in gzip": (postgres(varied(100)), b"nothing to do\n", gzip.compress),
    "a log after an archive in gzip": (tar_of(varied(100)), log(26), gzip.compress),
    "a log after a dump in gzip in bzip2": (
        postgres(varied(100)),
        log(26),
        lambda one: bz2.compress(gzip.compress(one)),
    ),
    "a log after a dump in xz -9": (postgres(varied(100)), log(26), lambda one: lzma.compress(one, preset=9)),
    "a text after what is none in gzip": (BINARY[0] + varied(100), b"nothing to do\n", gzip.compress),
    "a log after a larger text in gzip": (b"id,name\n" + varied(100), log(26, failure=20), gzip.compress),
    "a large log after a dump": (postgres(varied(200)), log(26) + b"\n" + varied(50), bytes),
    "a large log after a dump in gzip": (postgres(varied(200)), log(26) + b"\n" + varied(50), gzip.compress),
    "a large log after a dump in xz -9": (
        *(postgres(varied(200)), log(26) + b"\n" + varied(50)),
        lambda one: lzma.compress(one, preset=9),
    ),
    "a large log after a larger text in gzip": (
        *(b"id,name\n" + varied(200), log(26, failure=20) + b"\n" + varied(50)),
        gzip.compress,
    ),
}


@pytest.mark.parametrize("settings", [{"integrity.inline_limit": "1000"}])
@pytest.mark.parametrize("what", AWAITED)
def test_nothing_pushes_out_the_first_version_while_its_check_has_not_ended(root, push, good, run_job, what):
    collection = root.create(filename="nightly", maxBackupsCount=1).json["collection"]["id"]
    dump, other, pack = AWAITED[what]

    push("first", collection, pack(dump))
    push("first", collection, pack(other))
    run_job()

    assert ([1], 1) == good(collection)


def test_a_person_says_that_the_new_kind_is_right(root, make, push, good):
    collection = make("first")
    contents = [*USUAL["dumps"], b"an unknown format", b"an unknown format, too"]
    assert [None] * 3 + [KIND] * 2 == [push("first", collection, one) for one in contents]

    root.call("PATCH", f"{V1}/{collection}/versions/v5", json={"quarantined": False})

    assert push("first", collection, b"an unknown format again") is None
    assert ([3, 5, 6], 6) == good(collection)


def test_half_of_the_size_is_allowed_and_less_is_not(make, push, good):
    """Collections of the first API compare no sizes: a whole dump is one, however small."""
    full = [postgres(b"%d" % number + b"x" * 10_000) for number in range(3)]
    half = len(full[0]) // 2 + len(full[0]) % 2
    for api, size, reason in (("second", half, None), ("second", half - 1, SHRANK), ("first", half - 1, None)):
        collection = make(api)
        for content in full:
            push(api, collection, content)
        small = postgres(b"x" * (size - len(postgres())))
        assert size == len(small)

        assert reason == push(api, collection, small), (api, size)
        assert ([1, 2, 3] if reason else [2, 3, 4], 3 if reason else 4) == good(collection)


def test_a_message_has_its_error_in_one_of_the_first_five_lines_and_a_long_one_says_whose_it_is():
    logs = list(NO_BACKUPS)[:8]
    assert set(logs) - {"an error in the sixth line", "a text without an error"} == {
        what for what in logs if messages.recognize(NO_BACKUPS[what])
    }
    for line, more in ((b"one job failed\n", 0), (b"sh: one job: not found\n", 1), (b"key: an error\n", 0)):
        length = 4000 // len(line)
        found = [bool(messages.recognize((line * count)[:4096])) for count in (25, 26, length, length + 1)]
        assert [True, bool(more), bool(more), bool(more)] == found, line


def test_statements_behind_a_dump_are_allowed_up_to_256_kib(check, check_quickly):
    assert 256 << 10 == sql_dump.TAIL
    for function in (check, check_quickly):
        for room, is_whole in ((0, True), (1, False)):
            end = b"-- PostgreSQL database dump complete\n--\n\n"
            more = b"GRANT ALL ON a TO b;\n" * 20_000
            dump = postgres()
            # The line before the last one has to be among the last bytes, too.
            behind = more[: sql_dump.TAIL - len(end) - len(b"\n--\n") + room]
            found = function(dump + behind)
            assert is_whole == (not re.search("ends too early", found.message)), (function, room)
