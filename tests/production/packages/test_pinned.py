"""release/pinned.txt has what the distributions require, in versions that fit."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from support.paths import ROOT

PINNED = {
    canonicalize_name(name): version
    for name, version in re.findall(r"(?m)^([\w.-]+)==(\S+)", (ROOT / "release/pinned.txt").read_text())
}


def required():
    """Return what the distributions require of others, for the service and each option except that of tests."""
    for path in ROOT.glob("frepo_*/pyproject.toml"):
        project = tomllib.loads(path.read_text())["project"]
        options = project.get("optional-dependencies", {})
        named = [*project["dependencies"], *(one for name in options if name != "test" for one in options[name])]
        yield from (one for one in map(Requirement, named) if not one.name.startswith("frepo"))


def test_each_requirement_is_pinned_in_a_version_that_fits():
    wanted = [*required()]

    missing = [str(one) for one in wanted if not one.specifier.contains(PINNED.get(canonicalize_name(one.name), "0"))]

    assert len(wanted) > 20
    assert [] == missing, "make pinned"
