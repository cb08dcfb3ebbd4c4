"""The command that examines an installation."""

import argparse
from typing import TYPE_CHECKING

from frepo_core.cli.ini_file import find_ini, read_ini
from frepo_core.cli.tables import ListCommand, Rows
from frepo_core.errors import FrepoError

if TYPE_CHECKING:
    from .permissions import SettingFiles

COLUMNS = ("Check", "State", "What was found", "What to do")


class Doctor(ListCommand):
    """Examine the installation, and say what to do. Exit status 1 if something is wrong; a warning is not.

    Checks versions, settings, secrets, permissions, database, clock, strategies, storage, disk, proxy headers and
    upkeep. Run it as the user of the service, with its environment.
    """

    examples = ("frepo doctor", "frepo doctor --url https://files.example.org", "frepo doctor -f json")
    prepares_serving = True

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--url",
            metavar="URL",
            help="also call the service under the address that clients use, as one that forges headers",
        )

    def take_action(self, arguments: argparse.Namespace) -> Rows:
        from . import Level, examine

        found = list(examine(self.assemble, files=self._files(), url=arguments.url))
        self._is_wrong = any(finding.level == Level.PROBLEM for finding in found)
        return COLUMNS, [
            (finding.subject, self.word(finding.level.value), finding.message, finding.remedy) for finding in found
        ]

    def run(self, arguments: argparse.Namespace) -> int:
        """Return 1 if something is wrong."""
        status = int(super().run(arguments))
        return status or int(self._is_wrong)

    def _files(self) -> "SettingFiles":
        from .permissions import SettingFiles

        path = find_ini(self.app.options.ini)
        try:
            settings = read_ini(path)
        except FrepoError:  # the check of the settings reports it
            settings = {}
        return SettingFiles(ini=path, settings=settings)
