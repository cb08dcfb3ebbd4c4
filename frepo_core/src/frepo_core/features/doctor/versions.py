"""Checks that the installed distributions of frepo belong together, and that Python is not too old."""

import contextlib
import re
import sqlite3
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from .findings import Finding, good, problem

OLDEST_PYTHON = (3, 11)


def check_packages() -> Iterator[Finding]:
    """Yield a problem if distributions of frepo have different versions."""
    found = {name: version(name) for name in _ours()}
    versions = sorted(set(found.values()))
    if len(versions) > 1:
        listed = ", ".join(f"{name} {version}" for name, version in sorted(found.items()))
        yield problem(
            "versions", f"The distributions of frepo have different versions: {listed}", "Upgrade all with pip"
        )
    elif sys.version_info < OLDEST_PYTHON:
        yield problem("versions", f"Python is {sys.version.split()[0]}", "Install Python 3.11 or newer")
    else:
        python = sys.version.split()[0]
        yield good("versions", f"frepo {', '.join(versions)}, Python {python}, SQLite {sqlite3.sqlite_version}")


def _ours() -> Iterator[str]:
    """Yield the installed distributions that form `frepo`. Third-party ones have versions of their own."""
    yield "frepo-core"
    with contextlib.suppress(PackageNotFoundError):
        for requirement in requires("frepo") or ():
            match = re.match(r"frepo-[a-z0-9-]+", requirement)
            if match and match[0] != "frepo-core":
                with contextlib.suppress(PackageNotFoundError):
                    version(match[0])
                    yield match[0]
