"""Probable mistakes of an installation that prevent nothing, and what plug-ins use that is deprecated."""

import re
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import Distribution, distributions
from itertools import islice
from pathlib import Path
from types import ModuleType

from .discovery import CORE_DISTRIBUTION, FoundPlugin, core_version, join_names, sorted_entries
from .markers import PROJECT
from .requirements import find_unmet

COMMANDS = "frepo.commands"
# Distributions that are named like a plug-in but are not one.
NOT_PLUGINS = frozenset({CORE_DISTRIBUTION, "frepo-server", "frepo-client"})
# The folder with the metadata of a distribution that is named like a plug-in, e.g. `frepo_acme-1.0.dist-info`.
INFORMATION = re.compile(r"(frepo[-_.].+?)(-\d.*)?\.(dist|egg)-info", re.IGNORECASE)


def find_mistakes(disabled: Sequence[str]) -> list[str]:
    """Return a warning for each probable mistake of an installation that prevents nothing."""
    entries = sorted_entries()
    names = {entry.name for entry in entries}
    warnings = [
        f"plugins.disabled names {name!r}, but no installed plug-in has this name. Installed: {join_names(names)}."
        for name in disabled
        if name not in names
    ]
    for entry in entries:
        if entry.name not in disabled and not isinstance(entry.load(), ModuleType):
            warnings.append(
                f"The entry point {entry.name!r} of the package {entry.dist.name if entry.dist else '?'} names "
                f"{entry.value!r}, which is not a module. Name the module that contains the hooks."
            )
        unmet = None if entry.name in disabled else find_unmet(entry.dist, core_version())
        if entry.dist and unmet:
            warnings.append(
                f"The package {entry.dist.name} {entry.dist.version} requires {unmet.text}, but {unmet.installed} is "
                "installed. It may fail: install a version of the package that allows this frepo. Its author writes "
                '"frepo-core >=0.1, <1" in `dependencies` of its pyproject.toml.'
            )
    return warnings + [
        f"The package {name} is installed, but has no entry point in the group 'frepo', so none of its hooks is "
        'called. Add [project.entry-points.frepo] to its pyproject.toml, with NAME = "MODULE".'
        for name in _without_entry_points()
    ]


def find_deprecated_uses(found: Iterable[FoundPlugin]) -> list[str]:
    """Return a warning for each deprecated use that can be seen at the start."""
    return [
        f"{plugin.origin} passes may_evict_all for the strategy {spec.name!r}. The field is deprecated and ignored: "
        "a strategy may always evict every version that it sees. Remove the field from the StrategySpec."
        for plugin in found
        for spec in plugin.strategies
        if spec.may_evict_all is not None
    ]


def _without_entry_points() -> list[str]:
    """Return the installed distributions that are named like plug-ins and have no entry points of frepo."""
    groups = {PROJECT, COMMANDS}
    return sorted(
        one.name
        for one in _named_like_plugins()
        if one.name not in NOT_PLUGINS and not any(entry.group in groups for entry in one.entry_points)
    )


def _named_like_plugins() -> list[Distribution]:
    """Find them by the names of their folders: to parse the metadata of all packages takes half of a start."""
    found = {
        named[1].lower().replace("-", "_")
        for folder in map(Path, sys.path)
        if folder.is_dir()
        for path in folder.iterdir()
        if (named := INFORMATION.fullmatch(path.name))
    }
    return [one for name in found for one in islice(distributions(name=name), 1)]
