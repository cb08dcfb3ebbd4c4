"""What differs on a terminal: colours, and questions that a person answers."""

import getpass
import os
from collections.abc import Mapping
from typing import Any, TextIO

from cliff.columns import FormattableColumn

from frepo_core.errors import FieldsError

RED, YELLOW, GREEN = "31", "33", "32"
# The colours of words that say how something is.
COLOURS: Mapping[str, str] = {
    **dict.fromkeys(("ok", "good", "new", "yes", "restored", "complete", "whole"), GREEN),
    **dict.fromkeys(
        ("late", "suspicious", "full", "pending", "waiting", "warning", "not checked", "interrupted"), YELLOW
    ),
    **dict.fromkeys(("damaged", "overdue", "broken", "problem", "failed", "refused", "lost", "critical"), RED),
}


def is_colourful(stream: TextIO) -> bool:
    """Return whether to write colours: on a terminal, unless NO_COLOR is set or the terminal has none."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


class Word(FormattableColumn[str]):
    """A word with the colour of its meaning in a table on a terminal; the plain word in all other formats."""

    def __init__(self, word: str, stream: TextIO, colour: str | None = None) -> None:
        super().__init__(word)
        self._colour = (colour or COLOURS.get(word)) if is_colourful(stream) else None

    def human_readable(self) -> str:
        """Return the word, in its colour."""
        return f"\x1b[{self._colour}m{self._value}\x1b[0m" if self._colour and self._value else self._value

    def machine_readable(self) -> Any:
        """Return the plain word."""
        return self._value


class Code(Word):
    """A code for programs, and the word that people see in its place."""

    def __init__(self, code: str, word: str, stream: TextIO, colour: str) -> None:
        super().__init__(word, stream, colour)
        self._code = code

    def machine_readable(self) -> Any:
        """Return the code."""
        return self._code


class Alarm(Word):
    """Whether something is so that needs attention: `yes` in a colour, `no` in none; true or false for programs."""

    def __init__(self, is_so: bool, stream: TextIO, colour: str) -> None:
        super().__init__("yes" if is_so else "no", stream, colour if is_so else None)
        self._is_so = is_so

    def machine_readable(self) -> Any:
        """Return true or false."""
        return self._is_so


def confirm(question: str, *, stdin: TextIO, output: TextIO) -> bool:
    """Ask a yes-or-no question; only `y` and `yes` are yes. Raises `FieldsError` if there is no terminal to ask on.

    The question is for people: `output` is stderr, because stdout may be read by a program.
    """
    if not stdin.isatty():
        raise FieldsError({"--yes": ["is required if the command cannot ask, because there is no terminal"]})
    output.write(f"{question} [y/N] ")
    output.flush()
    return stdin.readline().strip().lower() in {"y", "yes"}


def read_password(option: str | None, stdin: TextIO) -> str | None:
    """Return the password. `-` reads a line of stdin, because the list of processes shows arguments."""
    if option != "-":
        return option
    password = getpass.getpass("Password: ") if stdin.isatty() else stdin.readline().rstrip("\r\n")
    if not password:
        raise FieldsError({"--password": ["stdin has no password"]})
    return password
