"""Imports everything that a service or one of its commands imports sooner or later, so that its forks need not.

It also does what both do when they start, because libraries keep much of what they then make.
"""

import contextlib
import functools
import gc
import importlib.metadata
import io
import logging
import os
import pkgutil
import sys
from pathlib import Path

INI = Path(__file__).parents[3] / "development.ini"

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


def preload(folder: str) -> Path:
    """Import frepo with its plug-ins, commands and libraries, and use it once; return an empty database that it made.

    Everything that forks get from this process must be the same for all of them: the plug-ins and commands are those
    that are installed now, even if a fork is told to look in other folders.
    """
    sys.argv = ["frepo"]  # cliff reads it when it is imported
    importlib.metadata.entry_points = functools.cache(importlib.metadata.entry_points)
    _import_everything()
    _find_loaders_once()
    environment = dict(os.environ)
    os.environ |= {
        "FREPO_INI": str(INI),
        "APP_SECRETS_FILE": f"{folder}/secrets.json",
        "DATABASE_URL": f"sqlite:///{folder}/frepo.db",
        "FS_LOCAL_DIRECTORY": f"{folder}/storage",
    }
    try:
        empty = _make_database(Path(folder, "empty.db"))
        _run("install")
        _run("backup:create-collection", "-f", "dump.sql")
        _run("backup:list")
        _make_applications()
    finally:
        os.environ.clear()
        os.environ.update(environment)
    logging.basicConfig(handlers=[], force=True)
    gc.collect()
    gc.freeze()  # otherwise garbage collection in a fork would copy all objects, which takes 0.3 s
    gc.get_freeze_count = lambda: 1  # counting them takes 20 ms
    return empty


def _make_database(path: Path) -> Path:
    from frepo_core.db import make_engine, migrations

    engine = make_engine(f"sqlite:///{path}")
    migrations.upgrade(engine)
    engine.dispose()
    return path


def _run(*arguments: str) -> None:
    from frepo_core.script import main

    with contextlib.redirect_stdout(io.StringIO()) as output:
        assert main(list(arguments)) == 0, output.getvalue()


def _find_loaders_once() -> None:
    """Let pserve find the loader of ini files only once: each time takes 40 ms, for the metadata of all packages."""
    import plaster

    find = plaster.loaders.find_loaders
    found = functools.cache(lambda scheme, protocols: find(scheme, list(protocols)))
    plaster.loaders.find_loaders = lambda scheme, protocols=None: found(scheme, tuple(protocols or ()))
    plaster.get_loader(str(INI), ["wsgi"])


def _make_applications() -> None:
    """Make the web application twice: the third one, a fork's first, takes a third less time. No thread is started."""
    from frepo_core import assemble
    from frepo_core.cli.ini_file import read_ini
    from frepo_core.web import make_app

    for _ in range(2):
        make_app(assemble(read_ini(INI)))


def _import_everything() -> None:
    import frepo_core
    from frepo_core.plugins.registry import PluginRegistry

    for name in [*LATE, *(found.name for found in pkgutil.walk_packages(frepo_core.__path__, "frepo_core."))]:
        if not name.startswith(LEFT_OUT):
            importlib.import_module(name)
    PluginRegistry.from_entry_points()
    for command in importlib.metadata.entry_points(group="frepo.commands"):
        command.load()
