"""The command `frepo notify:test`."""

import argparse

from cliff.lister import Lister

from frepo_core.cli import FrepoCommand

COLUMNS = ("Target", "Sent", "Problem")


class Test(FrepoCommand, Lister):
    """Send a test message to each target, or to those that are named, and request the heartbeat's URL.

    The exit status is 1 if one failed.
    """

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("target", nargs="*", help="names of targets, or `heartbeat`; default: all")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[str, str, str]]]:
        """Send and return a row for each target."""
        from .trial_message import send_tests  # local, because `frepo --help` imports this module, and must be fast

        rows = send_tests(self.plugin_context("notify"), arguments.target)
        self._has_failed = any(row[1] == "no" for row in rows)
        return COLUMNS, rows

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if a message could not be sent."""
        return int(super().run(arguments)) or int(self._has_failed)
