"""What `make serve` installs: what serves, and no more."""

import configparser
import re

from support.servers.service import ROOT


def listed(file):
    """Return the folders of distributions that a file of requirements names."""
    return set(re.findall(r"^-e \./(\w+)(?:\[\w+\])?$", (ROOT / file).read_text(), re.MULTILINE))


def test_make_serve_installs_what_the_meta_distribution_does():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    required = re.findall(r"^(frepo-[\w-]+)", setup["options"]["install_requires"], re.MULTILINE)
    parts = {name.replace("-", "_") for name in required}

    # The console hands the client out, and operators of one machine watch it with `/metrics`, too.
    assert parts | {"frepo_client", "frepo_metrics"} == listed("requirements.txt")


def test_the_tests_install_each_distribution():
    folders = {path.parent.name for path in ROOT.glob("frepo_*/pyproject.toml")}

    assert folders - listed("requirements.txt") == listed("requirements-dev.txt")
