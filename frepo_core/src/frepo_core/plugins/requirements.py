"""Checks which version of frepo a plug-in requires: pip does not for `--no-deps`, nor after a downgrade."""

from importlib.metadata import Distribution
from typing import NamedTuple

CORE = "frepo-core"


class Unmet(NamedTuple):
    """A requirement that the installed frepo does not meet. `is_newer` is whether a newer frepo is required."""

    text: str
    installed: str
    is_newer: bool


def find_unmet(distribution: Distribution | None, installed: str) -> Unmet | None:
    """Return the requirement of a package that frepo-core of the version `installed` does not meet, or None."""
    for text in (distribution.requires if distribution else None) or ():
        is_about_core = text.lower().replace("_", "-").startswith(CORE)
        # Our own packages ask for this very version, and no command need import `packaging` for that.
        if is_about_core and text != f"{CORE}=={installed}" and (unmet := _check(text, installed)):
            return unmet
    return None


def _check(text: str, installed: str) -> Unmet | None:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name
    from packaging.version import InvalidVersion, Version

    try:
        needed = Requirement(text)
        is_other = canonicalize_name(needed.name) != CORE or (needed.marker and not needed.marker.evaluate())
        # A candidate for a release has the API of the release.
        own = Version(Version(installed).base_version)
        if is_other or needed.specifier.contains(own, prereleases=True):
            return None
        is_newer = any(
            one.operator in {">", ">=", "~=", "=="} and Version(one.version.removesuffix(".*")) >= own
            for one in needed.specifier
        )
    except (InvalidRequirement, InvalidVersion):
        return None  # pip refuses to install such a package
    return Unmet(text=f"{needed.name}{needed.specifier}", installed=installed, is_newer=is_newer)
