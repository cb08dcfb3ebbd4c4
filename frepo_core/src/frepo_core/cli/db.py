"""The command that migrates the database schema."""

import argparse
from typing import TYPE_CHECKING

from .base import FrepoCommand

if TYPE_CHECKING:
    from frepo_core.services.container import Services


class Upgrade(FrepoCommand):
    """Bring the database schema to the newest revision; safe to run again, and from several machines at once."""

    def take_action(self, arguments: argparse.Namespace) -> None:
        """Migrate."""
        before, after = upgrade(self.assemble())
        if before == after:
            self.say(f"The database schema is current ({after})")
        else:
            self.say(f"The database schema went from {before or 'nothing'} to {after}")


def upgrade(services: "Services") -> tuple[str | None, str | None]:
    """Migrate; return the revisions before and after."""
    from frepo_core.db import migrations

    return migrations.upgrade(services.database.engine)
