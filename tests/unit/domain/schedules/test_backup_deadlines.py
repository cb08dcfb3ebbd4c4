"""When the next backup of a collection is due, and what may be written as `expected_every`."""

import itertools
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from frepo_core.domain.schedules.backup_deadlines import parse_expectation, parse_grace

WARSAW = ZoneInfo("Europe/Warsaw")
NIGHTLY = "0 2 * * * Europe/Warsaw"
CREATED = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


def due(text, arrived=None, *, created=CREATED, since=None, grace=None):
    deadline = parse_expectation(text).deadline(
        created_at=created, arrived_at=arrived, since=since or created, grace=grace
    )
    return deadline.due_at, deadline.overdue_at - deadline.due_at


def warsaw(text):
    return datetime.fromisoformat(text).replace(tzinfo=WARSAW).astimezone(UTC)


def test_a_text_has_a_normal_form():
    for text, normal in [
        ("1d", "P1D"),
        ("6h", "PT6H"),
        ("P1D", "P1D"),
        ("pt6h", "PT6H"),
        ("PT90M", "PT1H30M"),
        ("P1W", "P7D"),
        ("P1DT12H", "P1DT12H"),
        ("36h", "P1DT12H"),
        ("0 2 * * * Europe/Warsaw", "0 2 * * * Europe/Warsaw"),
        ("  0  2 * *   1-5  utc ", "0 2 * * 1-5 UTC"),
        ("0 2 * * *", "0 2 * * * UTC"),
    ]:
        assert normal == parse_expectation(text).text
        assert normal == parse_expectation(normal).text


def test_a_wrong_text_is_refused_with_the_reason():
    for text, message in [
        ("", "neither a duration nor cron"),
        ("daily", "neither a duration nor cron"),
        ("P1M", "neither a duration nor cron"),  # the length of a month varies
        ("P1DT", "neither a duration nor cron"),
        ("P", "neither a duration nor cron"),
        ("30s", "not between one minute"),
        ("0", "not between one minute"),
        ("P3661D", "not between one minute"),
        ("P999999999W", "neither a duration nor cron"),
        ("61 2 * * *", "is not cron"),
        ("0 0 31 2 * UTC", "is not cron"),
        ("0 2 * * * Warsaw", "'Warsaw' is not a time zone"),
        ("0 2 * * * Europe/Warsaw again", "neither a duration nor cron"),
        (f"0 2 * * {','.join(['1'] * 130)} UTC", "more than 255 characters"),
    ]:
        with pytest.raises(ValueError, match=message):
            parse_expectation(text)
            pytest.fail(repr((text, message)))


class TestDurations:
    def test_without_a_version_it_is_counted_from_the_creation(self):
        assert (CREATED + 24 * HOUR, 144 * MINUTE) == due("1d")

    def test_it_is_counted_from_the_last_arrival(self):
        arrived = CREATED + 5 * HOUR

        assert arrived + 6 * HOUR == due("PT6H", arrived)[0]

    def test_the_grace_is_a_tenth_and_at_least_ten_minutes(self):
        for text, minutes in [("PT6H", 36), ("PT30M", 10), ("P7D", 1008)]:
            assert minutes * MINUTE == due(text)[1]

    def test_a_grace_that_was_set_is_used(self):
        assert 3 * MINUTE == due("1d", grace=3 * MINUTE)[1]
        assert timedelta() == due("1d", grace=timedelta())[1]

    def test_a_day_has_24_hours_when_clocks_are_changed(self):
        arrived = warsaw("2026-03-28 12:00")

        assert warsaw("2026-03-29 13:00") == due("1d", arrived)[0]


class TestCron:
    def test_the_first_time_after_the_arrival_is_due(self):
        assert warsaw("2026-05-03 02:00") == due(NIGHTLY, warsaw("2026-05-02 02:20"))[0]

    def test_an_extra_upload_in_the_afternoon_does_not_replace_that_of_the_night(self):
        assert warsaw("2026-05-03 02:00") == due(NIGHTLY, warsaw("2026-05-02 14:00"))[0]

    def test_a_late_upload_does_not_move_the_next_deadline(self):
        assert warsaw("2026-05-03 02:00") == due(NIGHTLY, warsaw("2026-05-02 23:59"))[0]

    def test_without_a_version_it_is_counted_from_the_creation(self):
        created = warsaw("2026-05-02 01:59")

        assert warsaw("2026-05-02 02:00") == due(NIGHTLY, created=created)[0]

    def test_an_upload_of_a_fast_clock_counts_for_the_time_that_follows(self):
        for arrival, day in [("00:59:59", 2), ("01:00:00", 3), ("01:40:00", 3), ("01:59:59", 3), ("02:00:00", 3)]:
            assert warsaw(f"2026-05-0{day} 02:00") == due(NIGHTLY, warsaw(f"2026-05-02 {arrival}"))[0]

    def test_frequent_times_tolerate_a_tenth_of_their_distance(self):
        assert warsaw("2026-05-02 02:10") == due("*/5 * * * * Europe/Warsaw", warsaw("2026-05-02 02:04:40"))[0]
        assert warsaw("2026-05-02 02:05") == due("*/5 * * * * Europe/Warsaw", warsaw("2026-05-02 02:04:20"))[0]

    def test_a_backup_counts_for_the_time_before_it_if_the_next_is_soon(self):
        twice = "0 2,3 * * * Europe/Warsaw"

        for arrival, expected in [("02:05", "03:00"), ("02:50", "03:00"), ("02:54", "02:00"), ("01:50", "02:00")]:
            day = 3 if arrival == "02:54" else 2
            assert warsaw(f"2026-05-0{day} {expected}") == due(twice, warsaw(f"2026-05-02 {arrival}"))[0], arrival
        assert warsaw("2026-05-02 03:00") == due(twice, warsaw("2026-05-02 01:54"))[0]

    def test_only_a_backup_that_came_early_has_another_time(self):
        def slot(text, arrival):
            return parse_expectation(text).slot_of(warsaw(arrival))

        assert warsaw("2026-05-02 02:00") == slot(NIGHTLY, "2026-05-02 01:40")
        assert slot(NIGHTLY, "2026-05-02 00:40") is slot(NIGHTLY, "2026-05-02 02:10") is None
        assert slot("1d", "2026-05-02 01:40") is None

    def test_times_from_before_it_was_set_do_not_count(self):
        arrived, since = warsaw("2026-05-02 02:20"), warsaw("2026-05-02 10:00")

        assert warsaw("2026-05-03 03:00") == due("0 3 * * * Europe/Warsaw", arrived, since=since)[0]

    def test_the_grace_is_a_tenth_of_the_time_to_the_next(self):
        friday = warsaw("2026-05-01 03:00")

        assert (warsaw("2026-05-04 02:00"), 144 * MINUTE) == due("0 2 * * 1-5 Europe/Warsaw", friday)
        assert 6 * 144 * MINUTE == due("0 2 * * 1,2 Europe/Warsaw", warsaw("2026-05-04 03:00"))[1]


def nights(first, days):
    """Return the times, in UTC, at which a nightly backup of each day is due."""
    found, arrived = [], warsaw(f"{first} 12:00")
    for _ in range(days):
        moment = due(NIGHTLY, arrived, created=arrived)[0]
        found.append(moment)
        arrived = moment + 20 * MINUTE
    return found


def test_each_night_of_a_month_is_due_once_when_clocks_are_changed():
    for first, changed, local, gaps in [
        # 02:00 does not exist on March 29th: the backup is due at 03:00.
        ("2026-03-15", "2026-03-29", "03:00", {24 * HOUR, 23 * HOUR}),
        # 02:00 happens twice on October 25th: it is due at the first.
        ("2026-10-10", "2026-10-25", "02:00", {24 * HOUR, 25 * HOUR}),
    ]:
        found = nights(first, 30)

        assert 30 == len({moment.astimezone(WARSAW).date() for moment in found})
        assert {moment.astimezone(WARSAW).isoformat()[11:16] for moment in found} <= {"02:00", local}
        on_that_day = next(moment for moment in found if moment.astimezone(WARSAW).date().isoformat() == changed)
        assert warsaw(f"{changed} {local}") == on_that_day
        assert gaps == {after - before for before, after in itertools.pairwise(found)}


def test_a_grace_is_a_duration_of_at_most_a_year():
    assert timedelta(hours=2) == parse_grace("PT2H") == parse_grace("2h")
    for text in ("two hours", "P400D"):
        with pytest.raises(ValueError, match=text):
            parse_grace(text)
