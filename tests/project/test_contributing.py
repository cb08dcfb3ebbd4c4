"""CONTRIBUTING.md names what exists, and every folder of tests. Each distribution is installed and released."""

import configparser
import re

from support.paths import ROOT, TESTS

PAGE = (ROOT / "CONTRIBUTING.md").read_text()
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PATHS = re.findall(
    r"`((?:frepo_\w+|tests|docs|deploy)/[\w/.]*|\w+\.(?:py|md|cfg))`|(?:\]\(|pytest )([\w/]+(?:\.md)?)", PAGE
)


def test_each_target_is_in_the_makefile():
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", PAGE, re.MULTILINE))

    assert named
    assert set() == named - TARGETS


def test_each_path_is_there():
    folders = (ROOT, ROOT / "frepo_core/src/frepo_core")

    assert PATHS
    assert [] == [path for path in map("".join, PATHS) if not any((folder / path).exists() for folder in folders)]


def test_each_folder_of_tests_is_explained():
    folders = {f"tests/{path.name}" for path in TESTS.iterdir() if path.is_dir() and path.name[0] not in "._"}

    assert folders == set(re.findall(r"^\| `(tests/\w+)` \|", PAGE, re.MULTILINE))


def test_all_distributions_have_one_version():
    files = [ROOT / "setup.cfg", *ROOT.glob("frepo_*/pyproject.toml")]
    versions = {found for path in files for found in re.findall(r'(?m)^version = "?([\d.]+)"?$', path.read_text())}
    required = {
        found for path in files for found in re.findall(r"frepo-\w[\w-]*(?:\[\w+\])? == ([\d.]+)", path.read_text())
    }

    assert len(versions) == 1
    assert versions == required


def listed(file):
    """Return the folders of distributions that a file of requirements names."""
    return set(re.findall(r"^-e \./(\w+)(?:\[\w+\])?$", (ROOT / file).read_text(), re.MULTILINE))


def test_make_serve_installs_what_the_meta_distribution_does():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")
    required = re.findall(r"^(frepo-[\w-]+)", setup["options"]["install_requires"], re.MULTILINE)
    parts = {name.replace("-", "_") for name in required}

    # The console hands the client out, operators of one machine watch it with `/metrics`, and who has a clone may want
    # to write a plug-in.
    assert parts | {"frepo_client", "frepo_metrics", "frepo_plugin_kit"} == listed("requirements.txt")


def test_the_tests_install_each_distribution():
    folders = {path.parent.name for path in ROOT.glob("frepo_*/pyproject.toml")}

    assert folders - listed("requirements.txt") == listed("requirements-dev.txt")
