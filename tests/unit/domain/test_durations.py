"""How long something takes, as people are told."""

from datetime import timedelta

import pytest

from frepo_core.domain.durations import format_age


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-3, "0s"), (0, "0s"), (90, "90s"), (120, "2m"), (510, "8m"), (7199, "119m"), (7200, "2h"), (200_000, "2d")],
)
def test_an_age_is_about_right(seconds, text):
    assert text == format_age(timedelta(seconds=seconds))
