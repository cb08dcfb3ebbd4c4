"""Guards against the wrong content: each version is compared with what upload checks said of the last ones."""

import bz2
import gzip
import random
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from frepo_integrity.formats.sql_programs import PROGRAMS
from support.compressors import tar_of

V1 = "/api/v1/collections"
START = datetime(2026, 3, 1, 2, tzinfo=UTC)
KIND = "new_version_is_of_another_kind"
HTML = b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>\n"
RANDOM = random.Random(5)


def postgres(database="shop", rows=b"1\tone\n"):
    return (
        b"--\n-- PostgreSQL database dump\n--\n\n\\restrict abc\n\n-- Dumped from database version 17.6\n\n"
        b"CREATE DATABASE %s WITH TEMPLATE = template0 ENCODING = 'UTF8';\n\n%s"
        b"--\n-- PostgreSQL database dump complete\n--\n\n" % (database.encode(), rows)
    )


def mysql(database="shop"):
    return (
        b"-- MariaDB dump 10.19  Distrib 10.11.6-MariaDB\n--\n-- Host: localhost    Database: %s\n"
        b"-- ------------------------------------------------------\n-- Dump completed on 2026-03-01  2:00:07\n"
        % database.encode()
    )


def rows_of(size):
    """Return rows of a dump that gzip makes hardly smaller."""
    return RANDOM.randbytes(size // 2).hex().encode() + b"\n"


@pytest.fixture
def night(monkeypatch):
    """Set the time of uploads to this night."""

    def night(number, hours=0):
        moment = START + timedelta(days=number, hours=hours)
        for module in ("versions.version_upload", "rotation.admission"):
            monkeypatch.setattr(f"frepo_core.services.backups.{module}.utc_now", lambda: moment)

    return night


@pytest.fixture
def collection(root):
    """A collection of /api/v1, with the guards that it has by itself."""
    guards = {"max_shrink_percent": 0}
    return root.post(V1, {"name": "shop", "limits": {"versions": 5}, "guards": guards}).json["id"]


@pytest.fixture
def send(root, night):
    """Upload each content on a night of its own; return why each was put into quarantine, None if it was not."""
    nights = iter(range(1000))

    def send(collection, *contents):
        reasons = []
        for content in contents:
            night(next(nights))
            answer = root.call("PUT", f"{V1}/{collection}/versions", body=content)
            assert 201 == answer.status_int, answer.json
            reasons.append(answer.json["quarantine_reason"])
        return reasons

    return send


@pytest.fixture
def newest(root):
    """Return the newest version as /api/v1 shows it."""
    return lambda collection: root.get(f"{V1}/{collection}/versions?limit=1&sort=-number").json["items"][0]


@pytest.fixture
def changes(services):
    """Return what the events say about changes of the format that were accepted."""

    def changes():
        with services.database.reading() as session:
            found = session.scalars(select(Event).where(Event.kind == "version.kind_changed").order_by(Event.id))
            return [row.data["message"] for row in found]

    return changes


USUAL = [gzip.compress(postgres(rows=b"%d\tone\n" % number)) for number in range(3)]
OTHERS = {
    "an unknown format": (b"\0\1\2 no dump at all", "Its content is not recognised (an unknown format)"),
    "an error page in gzip": (gzip.compress(HTML), "Its content is not recognised"),
    "text in gzip": (gzip.compress(b"pg_dump: nothing\n"), "Its content is not recognised (gzip)"),
    "another program": (gzip.compress(mysql()), "It is MySQL/MariaDB dump in gzip, the last versions were PostgreSQL"),
    "an archive": (tar_of(b"x"), "It is tar, the last versions were PostgreSQL dump in gzip"),
    "another database": (gzip.compress(postgres("wiki")), "It is of the database wiki, the last versions were of shop"),
}


@pytest.mark.costly
def test_the_wrong_content_is_put_into_quarantine(root, collection, send, newest):
    assert [None] * 3 == send(collection, *USUAL)

    for what, (content, reason) in OTHERS.items():
        assert [KIND] == send(collection, content), what
        version = newest(collection)
        assert ("suspicious", True) == (version["verdict"], version["quarantined"]), what
        assert version["verdict_reason"].startswith(reason), version["verdict_reason"]
        assert [None] == send(collection, USUAL[0]), what

    shown = root.get(f"{V1}/{collection}").json
    assert (5, 2) == (shown["versions"], shown["quarantined_versions"])


def test_a_cut_dump_is_what_its_check_says(collection, send, newest):
    cut = [gzip.compress(postgres()[:150]), gzip.compress(postgres(rows=rows_of(2000)))[:-9]]

    assert [None] * 3 + ["check integrity"] * 2 == send(collection, *USUAL, *cut)
    assert "broken" == newest(collection)["verdict"]


@pytest.mark.parametrize("settings", [{"checks.on_broken": "mark"}])
def test_the_settings_say_what_follows_a_cut_dump_and_no_guard(collection, send, newest):
    assert [None] * 4 == send(collection, *USUAL, gzip.compress(postgres()[:150]))
    assert "broken" == newest(collection)["verdict"]


@pytest.fixture
def quarantined(services):
    """Return the data of the events about quarantine."""

    def quarantined():
        with services.database.reading() as session:
            query = select(Event).where(Event.kind == "version.quarantined").order_by(Event.id)
            return [row.data for row in session.scalars(query)]

    return quarantined


def test_a_cut_dump_is_never_the_new_normal_and_its_reason_is_that_it_is_cut(root, send, quarantined):
    """It is smaller than the others, too, for which a guard would put it into quarantine."""
    collection = root.post(V1, {"name": "shop", "guards": {"max_shrink_percent": 50}}).json["id"]
    full = [gzip.compress(postgres(rows=rows_of(20_000))) for _ in range(3)]
    cut = [gzip.compress(postgres(rows=rows_of(2000)))[:-9] for _ in range(4)]

    assert [None] * 3 + ["check integrity"] * 4 == send(collection, *full, *cut)
    assert [(night, False, "broken") for night in (1, 2, 3, 4)] == [
        (data["nights"], data["new_normal"], data["verdict"]) for data in quarantined()
    ]
    assert all("broken: The gzip data ends too early" in data["message"] for data in quarantined())


def test_a_message_is_not_the_new_normal_and_a_smaller_dump_may_be(root, send, quarantined):
    collection = root.post(V1, {"name": "shop.sql", "guards": {"max_shrink_percent": 50}}).json["id"]
    full = [gzip.compress(postgres(rows=rows_of(20_000))) for _ in range(3)]
    small = [gzip.compress(postgres(rows=rows_of(2000))) for _ in range(3)]

    send(collection, *full, *[b"pg_dump: error: no connection\n"] * 4, *small)

    assert [False] * 4 + [False, False, True] == [data["new_normal"] for data in quarantined()]


def test_an_error_page_under_a_name_that_promises_nothing_is_found(collection, send):
    assert [None] * 3 + [KIND] == send(collection, *USUAL, HTML)


def test_a_collection_of_the_first_api_accepts_any_dump(root, send):
    collection = root.create(filename="shop").json["collection"]["id"]

    assert [None] * 4 == send(collection, *USUAL, gzip.compress(mysql()))


MESSAGES = (HTML, b"pg_dump: error: connection to server failed\n", b"\n")


def test_a_message_after_dumps_is_found_in_a_collection_of_the_first_api(root, send, newest):
    collection = root.create(filename="shop", maxBackupsCount=9).json["collection"]["id"]
    assert [None] * 3 == send(collection, *MESSAGES)  # nothing is known about the collection yet

    assert [None] * 3 + [KIND] * 4 + [None] == send(collection, *USUAL, *MESSAGES, b"content", USUAL[0])
    assert "ok" == root.get(f"{V1}/{collection}").json["state"]
    send(collection, HTML)
    version = newest(collection)
    assert ("suspicious", True) == (version["verdict"], version["quarantined"])
    assert version["verdict_reason"].startswith("It is a page of HTML, the last versions were PostgreSQL dump in gzip")


def test_a_message_after_three_unknown_contents_is_found_in_a_collection_of_the_first_api(root, send):
    collection = root.create(filename="kept", maxBackupsCount=9).json["collection"]["id"]

    assert [None] * 3 + [KIND] * 3 == send(collection, b"content", b"one", b"two", *MESSAGES)


def test_a_new_collection_accepts_any_content(collection, send):
    assert [None] * 3 == send(collection, *USUAL[:2], gzip.compress(mysql()))


def test_another_compression_or_an_encryption_is_told_and_accepted(collection, send, changes):
    bzip2 = bz2.compress(postgres())
    age = b"age-encryption.org/v1\n-> X25519 " + b"A" * 43 + b"\n" + b"B" * 43 + b"\n--- " + b"C" * 43 + b"\n"
    encrypted = age + RANDOM.randbytes(16 + 100 + 16)

    assert [None] * 6 == send(collection, *USUAL, bzip2, bzip2, encrypted)

    assert [
        "It is PostgreSQL dump in bzip2, before it was PostgreSQL dump in gzip",
        "It is age, before it was PostgreSQL dump in bzip2",
    ] == changes()


def test_a_new_program_is_accepted_on_its_second_night(collection, send, night, root, changes):
    new = [gzip.compress(mysql() + b"\n" * number) for number in range(3)]
    assert [None] * 3 + [KIND] == send(collection, *USUAL, new[0])

    night(3, hours=1)  # tried again in the same night
    again = root.call("PUT", f"{V1}/{collection}/versions", body=new[1]).json
    assert KIND == again["quarantine_reason"]

    assert [None, None] == send(collection, new[2], new[0])
    assert ["It is MySQL/MariaDB dump in gzip, before it was PostgreSQL dump in gzip"] == changes()


@pytest.mark.costly
def test_another_database_is_for_a_person(root, collection, send, newest):
    wiki = [gzip.compress(postgres("wiki", b"%d\n" % number)) for number in range(4)]
    assert [None] * 3 + [KIND] * 3 == send(collection, *USUAL, *wiki[:3])

    number = newest(collection)["number"]
    answer = root.call("PATCH", f"{V1}/{collection}/versions/v{number}", json={"quarantined": False})

    assert 200 == answer.status_int
    assert [None] == send(collection, wiki[3])


def test_on_suspicious_says_what_follows_the_wrong_kind(root, collection, send, night):
    send(collection, *USUAL)
    wrong = gzip.compress(postgres("wiki"))

    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"on_suspicious": "mark"}})
    marked = root.call("PUT", f"{V1}/{collection}/versions", body=wrong).json
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"on_suspicious": "refuse"}})
    refused = root.call("PUT", f"{V1}/{collection}/versions", body=wrong)

    assert (False, True, "suspicious") == (marked["quarantined"], marked["suspicious"], marked["verdict"])
    assert (422, 4023) == (refused.status_int, refused.json["code"])


def test_a_dump_that_shrinks_by_four_percent_a_night_is_suspicious_by_the_25th(root, send):
    collection = root.post(V1, {"name": "shop", "limits": {"versions": 3}}).json["id"]
    full = [gzip.compress(postgres(rows=rows_of(20_000))) for _ in range(20)]
    assert [None] * 20 == send(collection, *full)

    shrinking = [gzip.compress(postgres(rows=rows_of(int(20_000 * 0.96**number)))) for number in range(1, 26)]
    reasons = send(collection, *shrinking)

    found = reasons.index("new_version_shrank_too_much")
    assert 15 <= found < 25
    assert {None} == {*reasons[:found]}
    assert {"new_version_shrank_too_much"} == {*reasons[found:]}


def test_a_person_decides_that_less_is_right(root, send, newest):
    collection = root.post(V1, {"name": "shop"}).json["id"]
    large, small = ([gzip.compress(postgres(rows=rows_of(size))) for _ in range(5)] for size in (20_000, 4_000))
    assert [None] * 5 + ["new_version_shrank_too_much"] == send(collection, *large, small[0])

    root.call("PATCH", f"{V1}/{collection}/versions/v6", json={"quarantined": False})

    assert [None] * 4 == send(collection, *small[1:])


def test_sudden_growth_is_suspicious_if_a_limit_is_set(root, collection, send):
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_growth_percent": 200}})
    contents = [gzip.compress(postgres(rows=rows_of(size))) for size in (10_000, 11_000, 12_000, 30_000, 50_000)]

    assert [None] * 4 + ["new_version_grew_too_much"] == send(collection, *contents)


@pytest.mark.costly
def test_nights_without_a_change_are_counted(root, collection, send):
    def unchanged():
        return root.get(f"{V1}/{collection}").json["unchanged_nights"]

    send(collection, *USUAL[:1] * 20)
    assert 19 == unchanged()

    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"expects_change": True}})
    assert ["new_version_is_unchanged"] == send(collection, USUAL[0])
    assert 20 == unchanged()

    assert [None] == send(collection, USUAL[1])
    assert 0 == unchanged()


def test_a_content_that_is_sent_again_on_the_same_day_is_no_standstill(root, collection, send):
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"expects_change": True}})
    send(collection, USUAL[0])

    again = root.call("PUT", f"{V1}/{collection}/versions", body=USUAL[0]).json

    assert (False, 0) == (again["quarantined"], root.get(f"{V1}/{collection}").json["unchanged_nights"])


@pytest.mark.costly
@pytest.mark.parametrize("settings", [{"integrity.inline_limit": "2000"}])
def test_a_large_version_is_compared_when_its_check_has_ended(root, collection, send, newest, run_job):
    large = [gzip.compress(postgres(database, rows_of(8000))) for database in ("shop", "shop", "shop", "wiki", "shop")]
    for content in large[:3]:
        assert [None] == send(collection, content)
        assert "pending" == newest(collection)["verdict"]
        run_job()
        assert "complete" == newest(collection)["verdict"]

    send(collection, large[3])
    run_job()

    version = newest(collection)
    assert (True, KIND, "suspicious") == (version["quarantined"], version["quarantine_reason"], version["verdict"])
    assert version["verdict_reason"].startswith("It is of the database wiki")

    send(collection, large[4])
    run_job()
    assert ("complete", False) == (newest(collection)["verdict"], newest(collection)["quarantined"])


def test_program_names_of_the_checks_are_those_that_guards_compare():
    assert {"PostgreSQL", "MySQL/MariaDB", "SQLite"} == {program.label.partition(" ")[0] for program in PROGRAMS}


def test_a_collection_says_that_its_sender_compresses(root, collection, send):
    def shown():
        return root.get(f"{V1}/{collection}").json["compressed_by_sender"]

    before = shown()
    send(collection, gzip.compress(postgres()))
    compressed = shown()
    root.call(
        "PUT",
        f"{V1}/{collection}/versions",
        body=gzip.compress(postgres(rows=b"1\ttwo\n")),
        headers={"Content-Encoding": "gzip"},
    )

    assert [None, "gzip", None] == [before, compressed, shown()]
