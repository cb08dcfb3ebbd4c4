"""The decline of sizes over thirty nights: what is one, and what only looks like one."""

import math
import random

import pytest

from frepo_core.domain.backups.size_trend import decline_of

NIGHTS = 30


def percent(*sizes):
    return decline_of(sizes)


def shrinking(by, nights=NIGHTS, size=1_000_000):
    return [round(size * (100 - by) ** night / 100**night) for night in range(nights)]


def test_four_percent_a_night_is_a_decline():
    assert 55 == percent(*shrinking(4))
    assert 21 == percent(*shrinking(4, nights=9))


def test_fewer_than_nine_nights_say_nothing():
    assert 0 == percent(*shrinking(20, nights=8)) == percent()


def test_one_loss_is_no_decline_wherever_it_is():
    for night in range(NIGHTS):
        assert 0 == percent(*[1000] * night, *[600] * (NIGHTS - night))


@pytest.mark.parametrize(
    "sizes",
    [
        [1000 + night for night in range(NIGHTS)],
        [10_000 if night % 7 == 0 else 1000 for night in range(NIGHTS)],
        [100 + (night + 12) % NIGHTS for night in range(NIGHTS)],
        [0] * NIGHTS,
    ],
    ids=["growth", "a full backup each week", "a log that begins anew each month", "nothing"],
)
def test_what_does_not_decline(sizes):
    assert 0 == percent(*sizes)


def test_a_decline_is_seen_through_nights_that_vary():
    chance = random.Random(4)
    sizes = [round(size * chance.uniform(0.8, 1.2)) for size in shrinking(4)]

    assert 40 <= percent(*sizes) <= 65


def test_sizes_that_vary_are_no_decline_of_a_fifth():
    for seed in range(500):
        chance = random.Random(seed)
        sizes = [round(1_000_000 * chance.uniform(0.9, 1.1)) for _ in range(NIGHTS)]
        assert percent(*sizes) < 20


@pytest.mark.parametrize("full_every", [0, 7])
def test_sizes_that_go_up_and_down_are_no_trend(full_every):
    """Incremental backups differ by a third from night to night, also between weekly full ones."""
    condemned = 0
    for seed in range(40):
        draw, sizes = random.Random(seed), []
        for night in range(120):
            is_full = full_every and night % full_every == 0
            sizes.append(10_000_000 if is_full else int(1_000_000 * math.exp(draw.gauss(0, 0.3))))
            condemned += decline_of(sizes[-30:]) > 20

    assert condemned <= 2


def test_a_decline_between_weekly_full_backups_is_found():
    sizes = [10_000_000 if night % 7 == 0 else int(1_000_000 * 0.96**night) for night in range(30)]

    assert decline_of(sizes) > 20
