from io import StringIO

import pytest

from frepo_core.cli import progress
from frepo_core.cli.progress import ProgressBar


@pytest.fixture
def shown(monkeypatch):
    """Render a progress bar after some seconds of work."""

    def shown(seconds: float, **work: int) -> str:
        stream = StringIO()
        clock = iter([0.0, seconds])
        monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
        ProgressBar("migrate", stream)(**work)
        return stream.getvalue().strip()

    return shown


def test_the_remaining_time_is_shown_beyond_a_day(shown):
    for done, left in [(1, "30:00:00"), (10, "02:06:00"), (30, "00:02:00"), (31, "00:00:00")]:
        assert shown(3600, done=done, total=31, size=0).endswith(f", {left} left"), done


def test_blobs_added_meanwhile_do_not_break_the_bar(shown):
    assert shown(3600, done=40, total=31, size=0).endswith(", 00:00:00 left")


def test_a_bar_on_a_terminal_stays_on_one_line_and_ends_it():
    class Terminal(StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    with ProgressBar("sweep", stream) as bar:
        for done in range(1, 5):
            bar(done=done, total=3, size=1)

    assert (stream.getvalue().count("\n"), stream.getvalue()[-1]) == (1, "\n")
