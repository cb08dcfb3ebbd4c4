"""The state of a collection, as queries see it, and the deadline that is stored with each arrival and edit."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Collection, StoredObject
from frepo_core.errors import RuleError
from frepo_core.services.backups.collections.states import (
    BackupState,
    count_by_state,
    is_in_state,
    read_states,
    severity_column,
    state_column,
)
from frepo_core.services.backups.rows.collection_change import CollectionChange

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.fixture
def state(services):
    """Return the state of a collection at a time after now, and how long it lasts."""

    def state(collection, later=timedelta()):
        now = utc_now() + later
        with services.database.reading() as session:
            found = read_states(session, [collection], now)[collection]
        return found.state, now - found.since

    return state


@pytest.fixture
def edit(services, sender):
    return lambda collection, **values: (
        services.collections.edit(collection, CollectionChange(limits={}, **values), by=sender).collection
    )


@pytest.fixture
def damage(services):
    """Mark all bytes as damaged."""
    return lambda: services.database.write(
        lambda session: session.execute(update(StoredObject).values(state="damaged", since=utc_now() - 2 * HOUR))
    )


@pytest.mark.databases
class TestStates:
    def test_a_new_collection_is_new_until_something_is_due(self, make_collection, state):
        unset, set_ = make_collection(), make_collection(expected_every="1d")

        assert state(unset, 100 * DAY)[0] == "new"
        assert state(set_, DAY - HOUR)[0] == "new"
        assert state(set_, DAY + HOUR)[0] == "late"
        assert state(set_, DAY + 3 * HOUR)[0] == "overdue"

    def test_a_version_in_time_is_ok_and_then_late_and_overdue(self, make_collection, push, state):
        collection = make_collection(expected_every="PT10H", grace="PT2H")
        push(collection, b"dump")

        found = [state(collection, hours * HOUR) for hours in (0, 9, 11, 13)]
        assert ["ok", "ok", "late", "overdue"] == [name for name, _ in found]
        assert [0, 9, 1, 1] == [round(length / HOUR) for _, length in found]

    def test_a_collection_whose_versions_were_deleted_is_not_ok(self, services, sender, make_collection, push, state):
        collection = make_collection()
        push(collection, b"dump")
        services.versions.delete(collection, "v1", by=sender)

        found, length = state(collection, HOUR)
        assert ("new", 1) == (found, round(length / HOUR))

    def test_a_refused_upload_is_full_and_does_not_count_as_arrived(self, make_collection, push, state, row):
        collection = make_collection(1, strategy="alert_when_backup_limit_reached", expected_every="1d")
        push(collection, b"dump")
        before = row(collection)

        with pytest.raises(RuleError):
            push(collection, b"another")

        after = row(collection)
        assert (before.arrived_at, before.due_at) == (after.arrived_at, after.due_at)
        assert state(collection)[0] == "full"
        assert state(collection, 2 * DAY)[0] == "overdue"

    def test_a_suspicious_version_counts_until_the_next_one(self, services, sender, make_collection, push, state):
        collection = make_collection(guards={"min_version_size": 4, "action": "mark"})
        push(collection, b"long enough")
        push(collection, b"1")
        assert state(collection)[0] == "suspicious"

        services.versions.delete(collection, "v2", by=sender)
        assert state(collection)[0] == "ok"

        push(collection, b"2")
        push(collection, b"long again")
        assert state(collection)[0] == "ok"
        services.versions.delete(collection, "v4", by=sender)
        assert state(collection)[0] == "suspicious"

    def test_damage_of_any_version_is_the_worst(self, make_collection, push, state, damage):
        collection, other = make_collection(expected_every="1d"), make_collection()
        push(collection, b"dump")
        damage()
        push(other, b"sound")

        found, length = state(collection, 3 * DAY)
        assert ("damaged", 74) == (found, round(length / HOUR))
        assert state(other)[0] == "ok"

    def test_the_worst_state_wins(self, make_collection, push, set_row, state, damage):
        collection = make_collection()
        push(collection, b"dump")
        past = utc_now() - HOUR
        found = []
        for values in (
            {"due_at": past},
            {"suspicious_since": past},
            {"problem_since": past},
            {"full_since": past},
            {"failed_since": past},
            {"overdue_at": past},
        ):
            set_row(collection, **values)
            found.append(state(collection)[0])
        damage()
        found.append(state(collection)[0])

        assert ["late", "suspicious", "problem", "full", "failed", "overdue", "damaged"] == found
        assert list(BackupState)[:7] == found[::-1]

    def test_queries_filter_count_and_sort_by_state(self, services, make_collection, push, set_row, damage):
        past = utc_now() - HOUR
        expected = {}
        for name, values in {
            "damaged": {"overdue_at": past, "due_at": past},
            "overdue": {"overdue_at": past, "due_at": past, "full_since": past},
            "failed": {"failed_since": past, "full_since": past},
            "full": {"full_since": past, "problem_since": past},
            "problem": {"problem_since": past, "suspicious_since": past},
            "suspicious": {"suspicious_since": past, "due_at": past},
            "late": {"due_at": past, "arrived_at": None},
            "new": {"versions_count": 0, "due_at": utc_now() + HOUR},
            "ok": {"due_at": utc_now() + HOUR, "overdue_at": utc_now() + HOUR},
        }.items():
            expected[name] = make_collection()
            push(expected[name], name.encode())
            set_row(expected[name], **values)
            if name == "damaged":
                damage()

        with services.database.reading() as session:
            now = utc_now()
            counts = count_by_state(session, now)
            filtered = {
                name: set(session.scalars(select(Collection.id).where(is_in_state([BackupState(name)], now))))
                for name in expected
            }
            states = {name: read_states(session, [one], now)[one].states for name, one in expected.items()}
            ordered = session.scalars(select(state_column(now)).order_by(severity_column(now))).all()
            two = is_in_state([BackupState.OK, BackupState.DAMAGED], now)
            both = set(session.scalars(select(Collection.id).where(two)))
            none = session.scalars(select(Collection.id).where(is_in_state([], now))).all()
        assert states == {
            "damaged": ["damaged", "overdue"],
            "overdue": ["overdue", "full"],
            "failed": ["failed", "full"],
            "full": ["full", "problem"],
            "problem": ["problem", "suspicious"],
            "suspicious": ["suspicious", "late"],
            "late": ["late"],
            "new": ["new"],
            "ok": ["ok"],
        }
        assert filtered == {
            state: {expected[name] for name, found in states.items() if state in found} for state in expected
        }
        assert counts.by_state == {state: len(found) for state, found in filtered.items()}
        assert (9, 6, 7) == (counts.collections, counts.in_trouble, counts.not_well)
        assert ordered == list(expected)
        assert both == {expected["ok"], expected["damaged"]}
        assert none == []


@pytest.mark.databases
class TestSeveralStates:
    """The sentence names the cause before what follows from it."""

    @pytest.fixture
    def described(self, services):
        def described(collection):
            with services.database.reading() as session:
                found = read_states(session, [collection], utc_now())[collection]
                new = is_in_state([BackupState.NEW], utc_now())
                is_new = session.scalar(select(Collection.id).where(Collection.id == collection, new)) is not None
            assert is_new == (BackupState.NEW in found.states)
            return found.states, found.reason

        return described

    def test_broken_dumps_are_why_it_is_overdue(self, make_collection, push, set_row, described):
        collection = make_collection(expected_every="1d")
        push(collection, b"dump")
        arrived, past = utc_now() - 3 * DAY, utc_now() - HOUR
        set_row(
            collection,
            arrived_at=arrived,
            due_at=past,
            overdue_at=past,
            failed_since=past,
            failed_reason="The gzip data is cut",
        )

        states, reason = described(collection)

        assert ["overdue", "failed"] == states
        assert reason.startswith(
            f"The gzip data is cut; therefore overdue: no good backup has arrived since {arrived:%Y}"
        )

    def test_an_old_suspicion_is_not_why_a_host_is_silent(self, make_collection, push, set_row, described):
        """The version was marked and accepted: the good ones before it are as old."""
        collection, past = make_collection(expected_every="1d"), utc_now() - DAY
        push(collection, b"dump")
        set_row(collection, suspicious_since=past, arrived_at=past, due_at=past + HOUR, overdue_at=past + 2 * HOUR)

        states, reason = described(collection)

        assert ["overdue", "suspicious"] == states
        assert "; no good backup" in reason

    def test_an_arrival_before_its_time_is_named_with_that_time(self, make_collection, push, set_row, described):
        collection, past = make_collection(expected_every="0 2 * * * UTC"), utc_now() - HOUR
        push(collection, b"dump")
        set_row(collection, arrived_at=datetime(2026, 5, 2, 1, 40, tzinfo=UTC), due_at=past, overdue_at=past)

        _, reason = described(collection)

        assert reason.startswith(
            "no good backup has arrived since 2026-05-02 01:40 UTC, which counts for 2026-05-02 02:00 UTC, it was due "
        )

    def test_never_is_said_of_one_that_never_sent(self, make_collection, set_row, described):
        never, broken = make_collection(expected_every="1d"), make_collection(expected_every="1d")
        past = utc_now() - HOUR
        for collection in (never, broken):
            set_row(collection, due_at=past, overdue_at=past)
        set_row(broken, quarantined_count=1, failed_since=past, failed_reason="The dump was cut", created_at=past - DAY)

        assert (["overdue", "new"], True) == (described(never)[0], "nothing has ever been sent" in described(never)[1])
        assert ["overdue", "failed"] == described(broken)[0]
        assert "The dump was cut; therefore overdue: no good backup has arrived since" in described(broken)[1]


class TestDeadlines:
    def test_an_edit_sets_it_from_the_last_arrival(self, make_collection, push, edit, row):
        collection = make_collection()
        push(collection, b"dump")
        assert row(collection).due_at is None

        record = edit(collection, expected_every="2h", grace="30m", labels=["db", " db ", "warsaw"])

        found = row(collection)
        assert found.arrived_at + 2 * HOUR == found.due_at == record.due_at
        assert found.due_at + HOUR / 2 == found.overdue_at == record.overdue_at
        assert ("PT2H", HOUR / 2, ("db", "warsaw")) == (record.expected_every, record.grace, record.labels)

    def test_an_edit_of_something_else_hides_no_missing_night(self, make_collection, set_row, edit, row):
        collection = make_collection(expected_every="0 2 * * * Europe/Warsaw")
        long_ago = utc_now() - 9 * DAY
        set_row(collection, created_at=long_ago, expected_since=long_ago, arrived_at=long_ago + HOUR)

        edit(collection, description="changed", expected_every="0 2 * * * Europe/Warsaw")

        assert row(collection).due_at < utc_now() - 7 * DAY

    def test_empty_texts_restore_the_defaults(self, make_collection, edit, row):
        collection = make_collection(expected_every="1d", grace="5h", labels=["db"])
        edit(collection, grace="")
        found = row(collection)
        assert found.overdue_at - found.due_at == 2.4 * HOUR

        record = edit(collection, expected_every="", labels=[])

        found = row(collection)
        assert (found.expected_every, found.expected_since, found.due_at, found.overdue_at) == (None,) * 4
        assert (record.labels, record.expected_every) == ((), None)

    def test_a_zone_that_the_system_lost_refuses_no_upload(self, make_collection, push, set_row, row, caplog):
        collection = make_collection(expected_every="1d")
        set_row(collection, expected_every="0 2 * * * Europe/Atlantis")
        before = row(collection).due_at

        push(collection, b"dump")

        assert before == row(collection).due_at
        assert "Europe/Atlantis" in caplog.text
