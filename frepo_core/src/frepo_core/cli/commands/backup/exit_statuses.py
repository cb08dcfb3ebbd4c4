"""The exit statuses of commands that say whether all is well: those of Nagios plug-ins."""

import argparse
from typing import ClassVar

from ...base import FrepoCommand


class StatusCommand(FrepoCommand):
    """A command that exits like a Nagios plug-in: 0 ok, 1 warning, 2 critical, 3 if it cannot say.

    `take_action` sets `severity`. To be named before the base class that prints.
    """

    error_status: ClassVar[int] = 3
    severity: int

    def run(self, arguments: argparse.Namespace) -> int:
        """Print what was found, and return how bad it is."""
        super().run(arguments)
        return int(self.severity)
