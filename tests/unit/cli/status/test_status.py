"""The commands that say what is wrong, who sent nothing, and how much space is used."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete, insert, update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, Lease, Sample, Token
from frepo_core.domain.roles import Role
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.collections.collections import CollectionChange

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def database_url(console):
    """Return the URL of the console's database."""
    return f"sqlite:///{console.database}"


@pytest.fixture
def make(services):
    """Make a collection; the values are those of its row."""

    def make(name, labels=(), expected_every=None, **values):
        change = CollectionChange(limits={}, filename=name, labels=labels, expected_every=expected_every)
        collection = services.collections.create(change, by=None).id
        if values:
            row = update(Collection).where(Collection.id == collection).values(**values)
            services.database.write(lambda session: session.execute(row))
        return collection

    return make


GAPS = {"acme": {"gaps": {"message": "a gap", "since": "2026-05-01T02:15:00+00:00"}}}


@pytest.fixture
def led(services):
    """Let a worker lead."""
    lease = {"name": "worker", "holder": "a", "epoch": 1, "renewals": 1, "expires_at": utc_now() + HOUR}
    services.database.write(lambda session: session.execute(insert(Lease), [lease]))


def rows_of(done):
    assert done.stderr == ""
    return json.loads(done.stdout)


class TestStatus:
    def test_nothing_wrong_is_exit_status_0(self, console, make, led):
        make("good.sql", expected_every="1d")

        done = console.run("status", "-f", "json")

        assert 0 == done.returncode
        rows = {row["What"]: (row["State"], row["Details"]) for row in rows_of(done)}
        assert ("ok", "1 new") == rows["collections"]
        assert {"ok"} == {state for state, _ in rows.values()}
        shown = {"database", "storage", "blobs", "copies", "locks", "compact", "trash", "worker", "jobs", "collections"}
        assert shown == rows.keys()

    def test_a_storage_that_fails_is_named_once_and_not_in_a_log_too(self, console, led):
        done = console.run("status", "-f", "json", FS_LOCAL_DIRECTORY="/proc/none")

        assert 2 == done.returncode
        [details] = [row["Details"] for row in rows_of(done) if row["What"] == "storage"]
        assert "/proc/none" in details

    def test_collections_with_a_problem_are_named_with_the_reason_the_worst_first(self, console, make, led):
        since = utc_now() - 2 * HOUR
        late = make("late.sql", expected_every="1d", due_at=since, overdue_at=utc_now() + HOUR)
        failed = make("failed.sql", failed_since=since, failed_reason="The gzip data ends early", full_since=since)
        overdue = make("overdue.sql", expected_every="1d", arrived_at=since - DAY, due_at=since, overdue_at=since)
        make("good.sql")

        done = console.run("status", "-f", "json")

        assert 2 == done.returncode
        at, before = f"{since:%Y-%m-%d %H:%M} UTC", f"{since - DAY:%Y-%m-%d %H:%M} UTC"
        reasons = {
            overdue: f"overdue.sql: overdue since {at}: no good backup has arrived since {before}, it was due {at}",
            failed: f"failed.sql: failed since {at}: The gzip data ends early; "
            f"there is no room for a new version since {at}",
            late: f"late.sql: late since {at}: a backup was due {at}",
        }
        severities = ("critical", "critical", "warning")
        shown = [(row["What"], row["State"], row["Details"]) for row in rows_of(done)]
        assert ("collections", "critical", "1 overdue, 1 failed, 1 full, 1 late, 2 new") == shown[-4]
        assert shown[-3:] == [
            (f"collection {one}", severity, text)
            for (one, text), severity in zip(reasons.items(), severities, strict=True)
        ]

    @pytest.mark.costly
    def test_each_state_has_the_exit_status_of_a_nagios_plugin(self, console, services, make, led):
        since = utc_now() - HOUR
        expected = {"expected_every": "1d", "due_at": since}
        states = {
            "overdue": (2, {**expected, "overdue_at": since}),
            "failed": (2, {"failed_since": since}),
            "full": (2, {"full_since": since}),
            "problem": (2, {"problem_since": since, "problems": GAPS}),
            "suspicious": (1, {"suspicious_since": since}),
            "late": (1, {**expected, "overdue_at": utc_now() + HOUR}),
            "ok": (0, {"versions_count": 1}),
        }
        for state, (status, values) in states.items():
            collection = make(f"{state}.sql", **values)

            of_one = console.run("backup:status", collection, "-f", "json")
            of_all = console.run("status")

            shown = json.loads(of_one.stdout)
            assert (state, state != "ok") == (shown["state"], bool(shown["reason"]))
            assert (status, status) == (of_one.returncode, of_all.returncode), state
            gone = delete(Collection).where(Collection.id == collection)
            services.database.write(lambda session, gone=gone: session.execute(gone))

    def test_twenty_collections_are_named_and_the_others_counted(self, console, make, led):
        for number in range(23):
            make(f"{number}.sql", suspicious_since=utc_now() - 2 * number * HOUR)

        rows = rows_of(console.run("status", "-f", "json"))

        named = [row for row in rows if row["What"].startswith("collection ")]
        assert 20 == len(named)
        more = "and 3 more; `frepo status --all` lists them"
        assert ("collections", "warning", more) == tuple(rows[-1].values())
        rows = rows_of(console.run("status", "--all", "-f", "json"))
        assert 23 == len([row for row in rows if row["What"].startswith("collection ")])

    @pytest.mark.parametrize(
        ("values", "labels", "cause"),
        [
            ({}, ["host:db7"], "of the host db7"),
            ({"storage": "offsite"}, [], "in the storage offsite"),
            ({}, [], "since the hour from 2026-05-01 02:00 UTC"),
        ],
    )
    def test_a_mass_failure_is_one_line_with_its_common_cause(self, console, make, led, values, labels, cause):
        at = datetime(2026, 5, 1, 2, 10, tzinfo=UTC)
        for number in range(8):
            make(f"{number}.sql", labels, suspicious_since=at + timedelta(minutes=number), **values)
            make(f"good-{number}.sql", [f"host:{number}"])

        rows = rows_of(console.run("status", "-f", "json"))

        assert ("common cause", "warning") == (rows[-1]["What"], rows[-1]["State"])
        assert f"8 are not well, nearly all {cause}: " in rows[-1]["Details"]
        assert not [row for row in rows if row["What"].startswith("collection ")]
        listed = rows_of(console.run("status", "--all", "-f", "json"))
        assert 8 == len([row for row in listed if row["What"].startswith("collection ")])

    def test_failures_of_one_network_are_one_line_and_those_with_nothing_in_common_are_named(
        self, console, services, make, led
    ):
        def token(collection, address):
            issued = services.tokens.generate(NewToken(roles=[Role.UPLOAD_VERSIONS], name=f"of {collection}"))
            services.token_lists.grant(collection, issued.fingerprint)
            used = update(Token).where(Token.fingerprint == issued.fingerprint)
            used = used.values(last_used_at=utc_now(), last_used_from=address)
            services.database.write(lambda session: session.execute(used))

        for number in range(6):
            since = utc_now() - 3 * number * HOUR
            token(make(f"{number}.sql", suspicious_since=since), f"10.1.7.{number + 1}")
            token(make(f"good-{number}.sql"), f"10.1.{number + 20}.1")

        console.run("status")  # stores the check value of the phrase
        assert "sent from the network 10.1.7.0/24" in rows_of(console.run("status", "-f", "json"))[-1]["Details"]

        for number in range(6):  # as many are well there
            token(make(f"well-{number}.sql"), f"10.1.7.{number + 100}")
        token(make("well.sql"), "10.1.7.200")
        rows = rows_of(console.run("status", "-f", "json"))
        assert 6 == len([row for row in rows if row["What"].startswith("collection ")])

    def test_what_cannot_be_said_is_exit_status_3(self, console):
        wrong = {"DATABASE_URL": "postgresql://frepo@127.0.0.1:1/frepo"}
        for arguments, environment in (
            (["status"], wrong),
            (["status", "--overdue"], wrong),
            (["status"], {"TRASH_KEEP": "soon"}),
            (["status", "--no-such-option"], {}),
            (["backup:status"], {}),
            (["backup:status", "00000000-0000-4000-8000-000000000000"], {}),
        ):
            done = console.run(*arguments, **environment)

            assert (3, "") == (done.returncode, done.stdout), arguments
            assert done.stderr


class TestUntested:
    def test_collections_that_were_not_restore_tested_for_long_are_named_and_are_no_problem(self, console, make, led):
        now = utc_now()
        for number, days in enumerate((29, 31, 41, 51, 61)):
            make(f"{number}.sql", versions_count=1, restore_tested_at=now - days * DAY)

        done = console.run("status", "-f", "json")

        assert 0 == done.returncode
        (row,) = [row for row in rows_of(done) if row["What"] == "restore tests"]
        assert row["Details"] == (
            "4.sql: not restore-tested for 61 days; 3.sql: not restore-tested for 51 days; "
            "2.sql: not restore-tested for 41 days; and 1 more, see `frepo status --untested`"
        )

    def test_they_are_listed_the_longest_first(self, console, make):
        now = utc_now()
        make("new.sql", versions_count=1, restore_tested_at=now)
        tested = {"restore_tested_at": now - 41 * DAY, "restore_tried_at": now - DAY, "restore_outcome": "broken"}
        old = make("old.sql", ["db"], versions_count=1, **tested)
        never = make("never.sql", versions_count=1, created_at=now - 31 * DAY)

        done = console.run("status", "--untested", "-f", "json", RESTORE_TESTS_COMMAND="cat")

        assert 1 == done.returncode
        assert rows_of(done) == [
            {
                "Collection": never,
                "Name": "never.sql",
                "Last good test": None,
                "Last test": None,
                "Outcome": "",
                "Labels": [],
            },
            {
                "Collection": old,
                "Name": "old.sql",
                "Last good test": tested["restore_tested_at"].isoformat(),
                "Last test": tested["restore_tried_at"].isoformat(),
                "Outcome": "broken",
                "Labels": ["db"],
            },
        ]


class TestUnchanged:
    def test_collections_that_get_the_same_content_are_named_and_listed_and_are_no_problem(self, console, make, led):
        for nights in (6, 7, 9, 19, 8):
            make(f"{nights}.sql", baseline={"unchanged_nights": nights})

        done = console.run("status", "-f", "json")

        assert 0 == done.returncode
        (row,) = [row for row in rows_of(done) if row["What"] == "unchanged"]
        assert row["Details"] == (
            "19.sql: unchanged for 19 nights; 9.sql: unchanged for 9 nights; 8.sql: unchanged for 8 nights; "
            "and 1 more, see `frepo backup:list --unchanged 7`"
        )
        listed = rows_of(console.run("backup:list", "--unchanged", "7", "-f", "json"))
        assert {"19.sql": 19, "9.sql": 9, "8.sql": 8, "7.sql": 7} == {
            one["Name"]: one["Unchanged nights"] for one in listed
        }
        assert [] == rows_of(console.run("backup:list", "--unchanged", "7", "--state", "late", "-f", "json"))


class TestOverdue:
    def test_who_sent_nothing_is_listed_the_overdue_ones_first(self, console, make):
        now = utc_now()
        late = make("late.sql", expected_every="1d", due_at=now - HOUR, overdue_at=now + HOUR)
        times = {"due_at": now - 5 * HOUR, "overdue_at": now - 3 * HOUR, "arrived_at": now - 29 * HOUR}
        overdue = make("db7.sql", ["db", "warsaw"], "0 2 * * * Europe/Warsaw", full_since=now, **times)
        make("good.sql", expected_every="1d")

        done = console.run("status", "--overdue", "-f", "json")

        assert 2 == done.returncode
        rows = rows_of(done)
        assert [(overdue, "db7.sql", "overdue"), (late, "late.sql", "late")] == [
            (row["Collection"], row["Name"], row["State"]) for row in rows
        ]
        assert (
            rows[0]
            | {
                "Due": times["due_at"].isoformat(),
                "Overdue": times["overdue_at"].isoformat(),
                "Last arrival": times["arrived_at"].isoformat(),
                "Expected every": "0 2 * * * Europe/Warsaw",
                "Labels": ["db", "warsaw"],
            }
            == rows[0]
        )

    def test_a_late_one_alone_is_a_warning_and_none_is_exit_status_0(self, console, make):
        make("good.sql", expected_every="1d")
        assert "" == console.answer("status", "--overdue")
        make("late.sql", expected_every="1d", due_at=utc_now() - HOUR)
        done = console.run("status", "--overdue", "-f", "value", "-c", "Name")
        assert (1, "late.sql\n", "") == (done.returncode, done.stdout, done.stderr)


class TestUsage:
    def test_the_service_and_its_largest_collections_are_shown(self, console, services, make):
        small, large = make("small.sql", stored_size=10), make("large.sql", stored_size=5000, versions_count=2)
        counts = {"at": utc_now() - 10 * DAY, "versions": 0, "blobs": 0, "sent": None}
        samples = [counts | {"collection_id": one, "size": size} for one, size in ((None, 0), (large, 1000))]
        more = {"uploads": None, "refusals": None}
        services.database.write(lambda session: session.execute(insert(Sample), [row | more for row in samples]))

        rows = json.loads(console.answer("storage:usage", "-f", "json"))

        assert [None, large, small] == [row["Collection"] for row in rows]
        assert ("the service (storage local)", 2, 0) == tuple(rows[0][name] for name in ("Name", "Versions", "Size"))
        assert (5000, 400, None) == tuple(rows[1][name] for name in ("Size", "Growth a day", "Full on"))
        assert "large.sql" in console.answer("storage:usage", "--limit", "1")

    def test_a_wrong_limit_is_refused(self, console):
        assert "at least 1" in console.refusal("storage:usage", "--limit", "0")
