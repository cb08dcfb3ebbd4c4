"""What each distribution says of itself to a package index: licences, authors, and a page of its own."""

import configparser
import json
import re
import tomllib

import pytest

from support.paths import ROOT

FOLDERS = sorted(path.parent for path in ROOT.glob("frepo_*/pyproject.toml"))
PROJECTS = {folder: tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in FOLDERS}
SETUP = configparser.ConfigParser(interpolation=None)
SETUP.read(ROOT / "setup.cfg")
META = SETUP["metadata"]
VERSIONS = re.compile(r"(?m)^Programming Language :: Python :: (3\.\d+)$")
each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def copies(folder):
    """Return the licences of the libraries of which a distribution has a copy, and their texts."""
    licences, texts = set(), set()
    for record in folder.rglob("vendored.json"):
        licences |= {one["licence"] for one in json.loads(record.read_text())}
        texts |= set((record.parent / "licences").iterdir())
    for module in folder.glob("src/*/third_party/*/__init__.py"):
        licences |= set(re.findall(r"(?m)^# SPDX-License-Identifier: (\S+)$", module.read_text()))
        texts.add(module.parent / "LICENSE")
    return licences, texts


@each_folder
def test_a_distribution_has_our_licence_and_those_of_what_it_copies(folder):
    licences, texts = copies(folder)
    project = PROJECTS[folder]

    named = {path for pattern in project["license-files"] for path in folder.glob(pattern)}

    assert {folder / "LICENSE"} | texts == named
    assert (ROOT / "LICENSE").read_text() == (folder / "LICENSE").read_text()
    assert {"MIT"} | licences == set(project["license"].split(" AND "))


def test_the_copies_are_found():
    assert {"frepo_client", "frepo_console", "frepo_core"} == {folder.name for folder in FOLDERS if copies(folder)[0]}


def test_all_name_the_authors_and_what_they_are():
    authors = {project["authors"][0]["name"] for project in PROJECTS.values()} | {META["author"]}
    described = {
        path.name: (project["keywords"], project["classifiers"], project["description"])
        for path, project in PROJECTS.items()
    }
    described["frepo"] = (META["keywords"].split(", "), META["classifiers"].split("\n")[1:], META["description"])

    assert {"the frepo contributors"} == authors
    for keywords, classifiers, description in described.values():
        assert keywords == sorted(set(keywords))
        assert classifiers == sorted(set(classifiers))
        assert {"Development Status", "Topic", "Typing"} <= {one.partition(" :: ")[0] for one in classifiers}
        assert description
    # The licence has one form: an expression. A package index refuses classifiers next to it.
    assert not [one for _, classifiers, _ in described.values() for one in classifiers if "License" in one]
    assert ("MIT", None) == (META["license_expression"], META.get("license"))


def test_the_pythons_that_are_named_are_those_of_the_release():
    named = {folder.name: set(VERSIONS.findall("\n".join(PROJECTS[folder]["classifiers"]))) for folder in FOLDERS}
    named["frepo"] = set(VERSIONS.findall(META["classifiers"]))
    del named["frepo_client"]  # has tests of its own with the oldest one
    [built] = re.findall(r"(?m)^PYTHONS = \((.*)\)$", (ROOT / "release/wheelhouse.py").read_text())
    said = (ROOT / "docs/install.md").read_text()

    assert {frozenset(re.findall(r"3\.\d+", built))} == {frozenset(each) for each in named.values()}
    assert {min(re.findall(r"3\.\d+", built), key=lambda one: int(one[2:]))} == {
        project["requires-python"].removeprefix(">=") for folder, project in PROJECTS.items() if folder.name in named
    }
    assert "Python 3.11, 3.12 or 3.13" in said


@each_folder
def test_a_distribution_has_a_page_of_its_own(folder):
    page = (folder / "README.md").read_text()
    name = PROJECTS[folder]["name"]

    assert page.startswith(f"# {name}\n")
    assert "[frepo](../README.md), a service that stores files and keeps versioned backups" in page
    assert re.search(rf"^    pip install .*({name}|frepo\[)", page, re.MULTILINE)
    assert "](../docs/" in page


def test_an_ini_file_has_no_comment_behind_a_value():
    pages = [*ROOT.glob("*/README.md"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    lines = [
        (page.name, line)
        for page in pages
        for block in re.findall(r"```ini\n(.*?)```", page.read_text(), re.DOTALL)
        for line in block.splitlines()
    ]

    assert lines
    assert [] == [each for each in lines if re.search(r"^\S+ = .* #", each[1])]
