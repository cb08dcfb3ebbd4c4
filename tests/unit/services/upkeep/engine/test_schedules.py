"""When a job is due."""

from datetime import UTC, datetime

from frepo_core.domain.schedules.cron import parse_zone
from frepo_core.services.upkeep.engine.job_catalog import parse_schedule

BERLIN = parse_zone("Europe/Berlin")


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def test_a_job_is_due_next():
    for schedule, now, expected in [
        ("15 2 * * *", "2026-03-01 02:14:59", "2026-03-01 02:15"),
        ("15 2 * * *", "2026-03-01 02:15:00", "2026-03-02 02:15"),
        ("* * * * *", "2026-03-01 02:15:00.5", "2026-03-01 02:16"),
        ("0 4 * * 1", "2026-03-01 12:00", "2026-03-02 04:00"),
        ("every 1h", "2026-03-01 02:15:07", "2026-03-01 03:15:07"),
        ("every 90s", "2026-03-01 02:15:00", "2026-03-01 02:16:30"),
        ("Every  2d", "2026-02-28 02:15:00", "2026-03-02 02:15"),
    ]:
        assert at(expected) == parse_schedule(schedule).after(at(now))


def test_off_is_never_due():
    assert parse_schedule("off").after(at("2026-03-01")) is None


def test_a_local_time_is_due_once_when_clocks_are_changed():
    for now, expected in [
        # 02:30 in Berlin is 01:30 UTC in winter, 00:30 UTC in summer.
        ("2026-03-28 12:00", "2026-03-29 01:00"),  # 02:30 does not exist on this day, it is run at 03:00
        ("2026-03-29 01:00", "2026-03-30 00:30"),
        ("2026-10-24 12:00", "2026-10-25 00:30"),  # 02:30 happens twice on this day
        ("2026-10-25 00:30", "2026-10-26 01:30"),
        ("2026-10-25 01:10", "2026-10-26 01:30"),  # between the second 02:00 and the second 02:30
    ]:
        assert at(expected) == parse_schedule("30 2 * * *", BERLIN).after(at(now))


def test_every_hour_is_due_in_the_repeated_hour_too():
    schedule, moment, found = parse_schedule("0 * * * *", BERLIN), at("2026-10-24 23:30"), []
    for _ in range(4):
        moment = schedule.after(moment)
        found.append(moment.hour)

    assert [0, 1, 2, 3] == found


def test_the_zone_belongs_to_the_text_of_a_schedule():
    assert "30 2 * * * Europe/Berlin" == str(parse_schedule("30 2 * * *", BERLIN))
