"""Colours and questions."""

from io import StringIO

import pytest

from frepo_core.cli.app import FrepoApp
from frepo_core.cli.base import FrepoCommand
from frepo_core.cli.terminal import Word, confirm
from frepo_core.errors import FieldsError, FrepoError


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def colourful_terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_word_has_its_colour_on_a_terminal_only():
    assert "\x1b[31moverdue\x1b[0m" == Word("overdue", Terminal()).human_readable()
    assert "overdue" == Word("overdue", StringIO()).human_readable()


def test_programs_get_the_plain_word():
    assert "overdue" == Word("overdue", Terminal()).machine_readable()


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_are_switched_off_by_the_environment(monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    assert "overdue" == Word("overdue", Terminal()).human_readable()


def test_a_word_without_a_meaning_has_no_colour():
    assert "db7" == Word("db7", Terminal()).human_readable()


def test_only_yes_is_yes():
    for answer, expected in [("y\n", True), ("Yes\n", True), ("\n", False), ("", False)]:
        stdout = StringIO()

        assert expected == confirm("Delete it?", stdin=Terminal(answer), output=stdout)
        assert "Delete it? [y/N] " == stdout.getvalue()


def test_without_a_terminal_nothing_is_asked():
    with pytest.raises(FieldsError):
        confirm("Delete it?", stdin=StringIO("y\n"), output=StringIO())


class Ask(FrepoCommand):
    """A command that only asks."""

    def take_action(self, arguments):
        raise AssertionError


def test_the_question_is_not_in_the_result():
    app = FrepoApp()
    app.stdin, app.stdout, app.stderr = Terminal("n\n"), StringIO(), StringIO()

    with pytest.raises(FrepoError, match="Nothing was changed"):
        Ask(app, None).require_yes("Delete it?", given=False)
    Ask(app, None).require_yes("Delete it?", given=True)

    assert ("", "Delete it? [y/N] ") == (app.stdout.getvalue(), app.stderr.getvalue())
