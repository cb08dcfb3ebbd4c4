"""The command that migrates the database schema."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from frepo_core.errors import ConfigurationError

from ...base import FrepoCommand

if TYPE_CHECKING:
    from frepo_core.services.composition.container import Services


class Upgrade(FrepoCommand):
    """Bring the database schema to the newest revision; safe to run again, and from several machines at once."""

    examples = (
        "frepo db:upgrade",
        "frepo db:upgrade --create",
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the confirmation for an empty database."""
        parser.add_argument(
            "--create",
            action="store_true",
            help="create the schema if the database is empty; not needed for SQLite outside app.env = prod",
        )

    def take_action(self, arguments: argparse.Namespace) -> None:
        from frepo_core.db import migrations

        services = self.assemble()
        if not arguments.create:
            _check_is_used(services)
        narrow = migrations.narrow_columns(services.database.engine)
        before, after = upgrade(services)
        name = services.database.name
        if before == after:
            self.say(f"The schema of the database {name} is current ({after})")
        else:
            change = f"went from {before} to {after}" if before else f"was made ({after})"
            self.say(f"The schema of the database {name} {change}")
        upgrade_plugins(services, self.say)
        if narrow:
            self.say(f"{len(narrow)} text columns have the character set utf8mb4 now, such as {narrow[0]}")


def upgrade(services: "Services") -> tuple[str | None, str | None]:
    """Migrate; return the revisions before and after."""
    from frepo_core.db import migrations

    return migrations.upgrade(services.database.engine)


def upgrade_plugins(services: "Services", say: Callable[[str], None]) -> None:
    """Migrate the tables of plug-ins, and say what has changed. Raises `ConfigurationError` if a model needs more."""
    from frepo_core.db.migrations import plugin_schemas
    from frepo_core.services.base.plugin_rows import read_back
    from frepo_core.services.composition.startup import schemas_of

    schemas = schemas_of(services.plugins)
    for done in plugin_schemas.upgrade(services.database.engine, schemas):
        change = f"went from {done.before} to {done.after}" if done.before else f"were made ({done.after})"
        say(f"The tables of {done.schema.origin} {change}")
    plugin_schemas.check_are_current(services.database.engine, schemas)
    for plugin, count in read_back(services.database, schemas).items():
        say(f"The tables of the plug-in {plugin} have their rows again: {count}")


def _check_is_used(services: "Services") -> None:
    """Raise `ConfigurationError` if the database is empty, except for SQLite outside of production."""
    from frepo_core.db import migrations

    engine = services.database.engine
    if engine.dialect.name == "sqlite" and services.settings.app_env != "prod":
        return
    if migrations.find_revision(engine) is None:
        raise ConfigurationError(
            f"The database {services.database.name} has no schema of frepo. If it is the right one and new, run "
            "`frepo db:upgrade --create`. Otherwise correct database.url (DATABASE_URL)"
        )
