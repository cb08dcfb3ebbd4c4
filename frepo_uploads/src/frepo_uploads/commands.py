"""The command `frepo uploads`."""

import argparse

from cliff.lister import Lister

from frepo_core.cli import FrepoCommand

COLUMNS = ("Upload", "State", "Collection or file", "Received", "Size", "Token", "Begun", "Ends")


class ListUploads(FrepoCommand, Lister):
    """List the uploads in parts that are open, or end one of them: what it has received is deleted."""

    def get_parser(self, prog_name: str) -> argparse.ArgumentParser:
        """Define the arguments."""
        parser = super().get_parser(prog_name)
        parser.add_argument("--end", metavar="ID", action="append", default=[], help="end this upload; may be repeated")
        return parser

    def take_action(self, arguments: argparse.Namespace) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """End uploads if asked, and return a row for each that is open."""
        from .listing import end_uploads, list_rows  # local, because `frepo --help` imports this module

        context = self.plugin_context("uploads")
        end_uploads(context, arguments.end)
        return COLUMNS, list_rows(context)
