"""Commands that list, make and delete aliases."""

import argparse

from frepo_core.cli.outcomes import ActionCommand, Outcome
from frepo_core.cli.tables import ListCommand, Record, Rows, ShowCommand

from .feature import AliasServices

COLUMNS = ("Alias", "File", "Read-only")
PAGE = 500


class ListAliases(ListCommand):
    """List the aliases: first those of the file of `ids_mapping.file`, which are read-only here, then the others."""

    examples = ("frepo alias:list", "frepo alias:list -f json")

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        from frepo_core.services.base.keyset import PageRequest

        aliases = self.services().feature(AliasServices).aliases
        page = aliases.page(PageRequest(limit=PAGE))
        found = list(page.items)
        while page.next is not None:
            page = aliases.page(PageRequest(limit=PAGE, after=page.next))
            found += page.items
        return COLUMNS, [(one.name, one.file, one.is_read_only) for one in found]


class SetAlias(ShowCommand):
    """Make an alias of a file, or give an alias another file."""

    examples = ("frepo alias:set manual.txt 2cf24dba5fholiday.txt",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("alias", help="the new name, e.g. manual.pdf")
        parser.add_argument("file", help="the stored name of the file")

    def take_action(self, arguments: argparse.Namespace) -> Record:
        record, is_new = self.services().feature(AliasServices).aliases.put(arguments.alias, arguments.file, by=None)
        return ("alias", "file", "created"), (record.name, record.file, is_new)


class DeleteAlias(ActionCommand):
    """Delete an alias. The file stays."""

    examples = ("frepo alias:delete manual.txt",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("alias", help="the name to delete")

    def act(self, arguments: argparse.Namespace) -> Outcome:
        self.services().feature(AliasServices).aliases.delete(arguments.alias, by=None)
        return Outcome(text=arguments.alias, records=[{"alias": arguments.alias, "deleted": True}])
