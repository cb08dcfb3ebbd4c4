"""Commands that change something: they say what they did in sentences, and with `-f` as a record for programs."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from frepo_core.domain.structs import struct

from .base import FrepoCommand
from .tables import ListCommand, Record, Rows, ShowCommand


@struct
class Outcome:
    """What a command did: the text for people, and the same facts by name, in a record for each thing that was changed.

    The text is empty if stdout has a content. `names` are the names of the facts; it is needed if there may be no
    record.
    """

    text: str
    records: Sequence[Mapping[str, Any]]
    names: Sequence[str] = ()

    def columns(self) -> Sequence[str]:
        """Return the names of the facts."""
        return self.names or tuple(self.records[0])


class _ActionCommand(FrepoCommand):
    """Prints the text of the outcome, unless `-f` or `-c` is given."""

    def _add_common_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Replace the default of `-f`: it is the text."""
        super()._add_common_arguments(parser)
        for action in parser._actions:  # cliff does not return its option
            if action.dest == "formatter":
                action.default, action.help = None, "print a record in this format; default: sentences for people"

    def act(self, arguments: argparse.Namespace) -> Outcome:
        """Do the work. Raises `FrepoError`."""
        raise NotImplementedError

    def run(self, arguments: argparse.Namespace) -> int:
        """Do the work, and print the text or the record."""
        if self.prints_record(arguments):
            arguments.formatter = arguments.formatter or "table"
            return int(super().run(arguments))
        text = self.act(arguments).text
        if text:
            self.say(text)
        return 0

    @staticmethod
    def prints_record(arguments: argparse.Namespace) -> bool:
        """Return whether `-f` or `-c` is given."""
        return bool(arguments.formatter or arguments.columns)


def keep_long_options(parser: argparse.ArgumentParser) -> None:
    """Leave `-f` and `-c` to the command; `--format` and `--column` stay."""
    for action in {parser._option_string_actions.pop(short) for short in ("-f", "-c")}:
        action.option_strings = [option for option in action.option_strings if option.startswith("--")]


class ActionCommand(_ActionCommand, ShowCommand):
    """A command that changes one thing: its outcome has one record."""

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Do the work, and return the record."""
        outcome = self.act(arguments)
        return outcome.columns(), tuple(outcome.records[0].values())


class ActionsCommand(_ActionCommand, ListCommand):
    """A command that changes any number of things: its outcome has a record for each."""

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        """Do the work, and return the records."""
        outcome = self.act(arguments)
        return outcome.columns(), [tuple(record.values()) for record in outcome.records]
