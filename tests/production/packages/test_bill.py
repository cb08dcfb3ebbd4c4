"""The SBOM of a release names all that the Debian package contains."""

import importlib
import json
import re
import subprocess

import pytest
from packaging.markers import Marker, default_environment
from packaging.utils import canonicalize_name, parse_wheel_filename

from support.paths import ROOT
from support.scale import only_in_long_form

VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

found = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(found and str(found))
"""
PIN = re.compile(r"(?m)^([\w.-]+)==(\S+)(?: ; (.*?))? \\$")
# What the distributions have copies of.
COPIES = {"preact", "htm", "uplot", "@noble/hashes", "swagger-ui-dist", "tomli"}


def component(name):
    return {"name": name, "version": "1.0", "type": "library", "bom-ref": f"{name}==1.0"}


@pytest.fixture
def release(monkeypatch):
    """The package that builds a release. It is not installed."""
    monkeypatch.syspath_prepend(ROOT)
    importlib.import_module("release.bill")
    return importlib.import_module("release")


@pytest.fixture
def sources(release, tmp_path):
    """Sources of a distribution with a library for its page and one in Python."""
    package = tmp_path / "frepo_page/src/frepo_page"
    page, library = package / "pages", package / "third_party/tiny"
    for folder in (page, library):
        folder.mkdir(parents=True)
    (tmp_path / "setup.cfg").write_text("[metadata]\nversion = 1.0\n")
    (tmp_path / "frepo_page/pyproject.toml").touch()
    record = {"package": "@some/chart", "version": "3.1", "licence": "MIT"}
    (page / "vendored.json").write_text(json.dumps([record | {"file": "a.js"}, record | {"file": "b.js"}]))
    (library / "__init__.py").write_text('# SPDX-License-Identifier: MIT\n__version__ = "2.0"  # by a tool\n')
    return release.sources.Sources(folder=tmp_path, epoch=0)


def test_the_bill_has_a_subject_and_what_lies_in_the_distributions(release, sources):
    found = {
        "metadata": {},
        "components": [component("frepo"), component("frepo-page")],
        "dependencies": [{"ref": "frepo==1.0"}, {"ref": "frepo-page==1.0"}],
    }

    made = release.bill.complete(found, sources)

    chart, tiny = "pkg:npm/%40some/chart@3.1", "pkg:pypi/tiny@2.0"
    assert ("frepo", "application") == (made["metadata"]["component"]["name"], made["metadata"]["component"]["type"])
    assert ["frepo-page==1.0", chart, tiny] == [one["bom-ref"] for one in made["components"]]
    assert made["dependencies"] == [
        {"dependsOn": [chart, tiny], "ref": "frepo-page==1.0"},
        {"dependsOn": ["frepo-page==1.0"], "ref": "frepo==1.0"},
        {"ref": chart},
        {"ref": tiny},
    ]


def test_the_sources_have_the_copies_that_the_bill_names(release):
    found = {library["name"] for _, library in release.bill.included(release.sources.Sources(folder=ROOT, epoch=0))}

    assert COPIES == found


@only_in_long_form
def test_the_bill_of_a_release_is_valid_and_complete(released):
    (path,) = released.glob("*.cdx.json")
    made = json.loads(path.read_text())
    found = {canonicalize_name(one["name"]): one["version"] for one in made["components"]}
    subject = made["metadata"]["component"]
    found[subject["name"]] = subject["version"]
    # The package is made by Debian's Python.
    python = default_environment() | {"python_version": "3.11", "python_full_version": "3.11.2"}
    wanted = {
        canonicalize_name(name): version
        for name, version, marker in PIN.findall((ROOT / "release/pinned.txt").read_text())
        if not marker or Marker(marker).evaluate(python)
    }
    for wheel in released.glob("*.whl"):
        name, version, *_ = parse_wheel_filename(wheel.name)
        wanted[name] = str(version)
    refs = {one["bom-ref"] for one in [subject, *made["components"]]}

    assert wanted.items() <= found.items()
    assert COPIES <= {one["name"] for one in made["components"]}
    assert refs == {one["ref"] for one in made["dependencies"]}
    subprocess.run([ROOT / ".venv-release/bin/python", "-c", VALIDATE, path], check=True)
