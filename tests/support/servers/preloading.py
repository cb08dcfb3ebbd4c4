"""Imports everything that a service or a console command imports sooner or later, so that its forks need not."""

import importlib
import pkgutil
from importlib.metadata import entry_points

# Drivers and servers that frepo imports by the name in a setting, and what SQLAlchemy and Pyramid import late.
LATE = (
    "alembic.command",
    "frepo_server.channel",
    "frepo_storage_s3.backend",
    "paste.deploy",
    "plaster_pastedeploy",
    "psycopg",
    "pymysql",
    "pyramid.scripts.pserve",
    "sqlalchemy.dialects.mysql",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "waitress.server",
)
# Modules with an effect of their own, and those for the authors of tests.
LEFT_OUT = ("frepo_core.db.migrations.env", "frepo_core.db.migrations.versions", "frepo_core.testing")


def import_everything() -> None:
    """Import frepo with its plug-ins and commands, and the libraries that it uses."""
    import frepo_core
    from frepo_core.plugins import PluginRegistry

    for name in [*LATE, *(found.name for found in pkgutil.walk_packages(frepo_core.__path__, "frepo_core."))]:
        if not name.startswith(LEFT_OUT):
            importlib.import_module(name)
    PluginRegistry.from_entry_points()
    for command in entry_points(group="frepo.commands"):
        command.load()
