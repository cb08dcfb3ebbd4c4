"""Commands for the programs that are backed up most."""

from __future__ import annotations

import os
import re

from ..errors import UsageError
from .values import Table

# What each recipe needs, and what it may have.
_KEYS = {
    "postgres": ("database",),
    "mariadb": ("database",),
    "sqlite": ("path",),
    "redis": ("path",),
    "ldap": ("path",),
    "files": ("paths", "exclude"),
}
RECIPE_KEYS = ("recipe", "database", "path", "paths", "exclude")


def stages_of(job: Table) -> list[list[str]]:
    """Return the stages of the recipe of a job. Raises `UsageError`."""
    name = job.text("recipe")
    if name not in _KEYS:
        raise UsageError(f"{job.where} recipe {name!r} does not exist; the recipes are {', '.join(sorted(_KEYS))}")
    wrong = [key for key in RECIPE_KEYS[1:] if key in job.values and key not in _KEYS[name]]
    if wrong:
        raise UsageError(f"{job.where}: the recipe {name} has no key {wrong[0]!r}")
    if re.search(r"://[^/@]*:[^/@]*@|\bpassword\s*=", job.text("database")):
        raise UsageError(
            f"{job.where} database has a password, which other users of this machine would see; write it into env_file "
            "as PGPASSWORD=..., or into ~/.pgpass"
        )
    return [_command(name, job)]


def _command(name: str, job: Table) -> list[str]:
    if name == "postgres":
        # Without a database: all of them, with their roles.
        return ["pg_dump", "--dbname", job.text("database")] if job.text("database") else ["pg_dumpall"]
    if name == "mariadb":
        which = ["--databases", job.text("database")] if job.text("database") else ["--all-databases"]
        return ["mariadb-dump", "--single-transaction", "--routines", "--events", "--triggers", *which]
    if name == "sqlite":
        # `.dump` reads in one transaction, so that a writer cannot tear the copy.
        return ["sqlite3", "-readonly", _needed(job, "path"), ".dump"]
    if name == "redis":
        return ["redis-cli", *(["-s", job.text("path")] if job.text("path") else []), "--rdb", "-"]
    if name == "ldap":
        return ["slapcat", *_configuration_of_slapd(job.text("path"))]
    paths = job.texts("paths")
    if not paths:
        raise UsageError(f"{job.where}: the recipe files needs paths")
    # Absolute names would be restored over what is there; tar removes the leading slash, and says so once.
    excluded = [f"--exclude={pattern}" for pattern in job.texts("exclude")]
    return ["tar", "--create", "--file=-", "--directory=/", *excluded, "--", *[path.lstrip("/") for path in paths]]


def _configuration_of_slapd(path: str) -> list[str]:
    return [] if not path else ["-F" if os.path.isdir(path) else "-f", path]


def _needed(job: Table, key: str) -> str:
    if not job.text(key):
        raise UsageError(f"{job.where}: the recipe {job.text('recipe')} needs {key}")
    return job.text(key)
