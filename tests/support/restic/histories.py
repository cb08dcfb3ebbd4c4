"""Random histories of backups and policies; what restic decides about them; and a script that records 2,000 of them.

`PYTHONPATH=tests .venv/bin/python -m support.restic.histories` writes the file anew, in about five minutes. It needs
restic 0.14, whose rules `keep` has.
"""

import gzip
import json
import random
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from .repository import Restic

RECORDED = Path(__file__).with_name("decisions.json.gz")
COUNT, SEED = 2000, 20
PERIODS = ("hourly", "daily", "weekly", "monthly", "yearly")
COUNTED = ("last", *PERIODS)
DATED = ("within", *(f"within_{period}" for period in PERIODS))
# Zones in which clocks are changed at midnight, by half an hour or by a whole day, and zones with odd offsets.
ZONES = (
    "UTC",
    "Europe/Warsaw",
    "Europe/London",
    "America/New_York",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",
    "Asia/Kathmandu",
    "Pacific/Apia",
)
# Leap days, ends of years with 53 weeks, the days on which clocks are changed, and the day that Apia did not have.
CORNERS = (
    "2012-02-29",
    "2016-02-29",
    "2024-02-29",
    "2015-12-31",
    "2020-12-31",
    "2021-01-03",
    "2025-03-30",
    "2025-10-26",
    "2025-11-02",
    "2018-02-18",
    "2018-11-04",
    "2025-04-06",
    "2025-10-05",
    "2011-12-31",
)
DISTANT = datetime(2090, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Case:
    """A history in ascending order, a policy, and for each time the rules that keep it, None if restic has no policy.

    The version at `incoming` is the one that was just added; later times are in the future, from a clock that was
    wrong.
    """

    zone: str
    options: dict[str, int | str]
    times: list[datetime]
    incoming: int
    rules: list[list[str]] | None


def make_cases(chance: random.Random, count: int, restic: Restic) -> Iterator[Case]:
    """Make random histories and policies, and ask restic about each."""
    for _ in range(count):
        zone, options = chance.choice(ZONES), _options(chance)
        times = _history(chance, zone)
        future = sorted(DISTANT + timedelta(hours=chance.randrange(9000)) for _ in range(chance.choice([0] * 20 + [3])))
        incoming, times = len(times) - 1, times + sorted(set(future))
        restic.set_snapshots(times, zone)
        kept = restic.forget(options, zone)
        rules = [kept.get(time, []) for time in times] if any(map(_is_on, options.values())) else None
        assert kept or not rules, "restic did not decide"
        yield Case(zone=zone, options=options, times=times, incoming=incoming, rules=rules)


def read_cases() -> list[Case]:
    """Read the recorded cases."""
    cases = json.loads(gzip.decompress(RECORDED.read_bytes()))
    return [
        Case(
            zone=case["zone"],
            options=case["options"],
            times=[datetime.fromtimestamp(seconds, UTC) for seconds in case["times"]],
            incoming=case["incoming"],
            rules=case["rules"] and [text.split() for text in case["rules"]],
        )
        for case in cases
    ]


def _is_on(value: int | str) -> bool:
    return value not in (0, "0d")


def _history(chance: random.Random, zone: str) -> list[datetime]:
    """Return up to 70 different times in whole seconds: regular or not, with gaps, around a day or a corner."""
    middle = datetime(2008, 1, 1, tzinfo=UTC) + timedelta(minutes=chance.randrange(18 * 365 * 24 * 60))
    if chance.random() < 0.5:
        middle = datetime.fromisoformat(chance.choice(CORNERS)).replace(tzinfo=UTC, hour=chance.randrange(24))
    length = chance.choice([1, 2, 5, 12, 25, 40, 70])
    step = chance.choice([20, 60, 90, 240, 480, 1440, 1440, 1440, 1440, 2880, 10080, 43200])
    jitter = chance.choice([0, 0, 1, step])
    clock, times = middle.astimezone(ZoneInfo(zone)), []
    position = -chance.randrange(length)
    for _ in range(length):
        # Adding to a local time moves the hands of the clock: it stays 2 o'clock when clocks are changed.
        local = clock + timedelta(minutes=position * step + chance.uniform(-jitter, jitter))
        times.append(local.astimezone(UTC).replace(microsecond=0))
        position += 1 if chance.random() < 0.9 else chance.choice([0, 2, 3, 10])
    return sorted(
        {time for time in times if time < datetime(2026, 9, 1, tzinfo=UTC)} or {middle.replace(microsecond=0)}
    )


def _options(chance: random.Random) -> dict[str, int | str]:
    """Return a policy. It is often empty for some rules, and now and then for all."""
    share = chance.choice([0.15, 0.3, 0.6])
    counts = {name: _count(chance) for name in COUNTED if chance.random() < share}
    durations = {name: _duration(chance) for name in DATED if chance.random() < share / 2}
    return counts | durations or {"last": 3, "daily": 7, "weekly": 4, "monthly": 12}


def _count(chance: random.Random) -> int:
    return chance.choice([0, 1, 1, 2, 3, 4, 7, 12, 30, 100])


def _duration(chance: random.Random) -> str:
    parts = [f"{chance.choice([1, 1, 2, 3, 5, 11, 30])}{unit}" for unit in "ymdh" if chance.random() < 0.35]
    chance.shuffle(parts)
    return "".join(parts) or chance.choice(["0d", "1d", "7d", "1m", "36h", "1d2d"])


def main() -> None:
    """Record the cases."""
    with tempfile.TemporaryDirectory() as folder:
        cases = make_cases(random.Random(SEED), COUNT, Restic(Path(folder) / "repository"))
        recorded = [
            {
                "zone": case.zone,
                "options": case.options,
                "times": [int(time.timestamp()) for time in case.times],
                "incoming": case.incoming,
                "rules": case.rules and [" ".join(rules) for rules in case.rules],
            }
            for case in cases
        ]
    RECORDED.write_bytes(gzip.compress(json.dumps(recorded, separators=(",", ":")).encode(), mtime=0))


if __name__ == "__main__":
    main()
