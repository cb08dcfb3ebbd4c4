import re
import tomllib

import pytest

from support.paths import ROOT

PAGES = sorted((ROOT / "docs").glob("*.md"))
INSTALL = re.compile(r"^.*pip install .*\./frepo_core.* \.$", re.MULTILINE)
LINES = [line for page in PAGES for line in INSTALL.findall(page.read_text())]


def _requirements(folder: str) -> set[str]:
    """Return the folders of our own distributions that the one in `folder` requires, without its extras."""
    if folder == ".":
        parts = (ROOT / "setup.cfg").read_text().partition("install_requires =")[2].partition("\n\n")[0].split("\n")
    else:
        parts = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"].get("dependencies", [])
    names = [found[1] for part in parts if (found := re.match(r"\s*(frepo-[a-z0-9-]+)", part))]
    return {name.replace("-", "_") for name in names}


@pytest.mark.parametrize("line", LINES)
def test_an_install_from_a_checkout_names_each_distribution_that_another_one_requires(line):
    named = set(re.findall(r"\./(frepo_\w+)", line))

    required = set().union(*(_requirements(folder) for folder in [*named, "."]))

    assert set() == required - named


def test_the_pages_on_production_install_from_a_checkout():
    assert len(LINES) >= 3
