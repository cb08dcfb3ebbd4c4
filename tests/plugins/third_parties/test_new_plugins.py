"""The plug-ins that `frepo plugin:new` writes, and the examples, can be installed and pass their tests."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.installation.environments import build
from support.paths import ROOT
from support.scale import only_in_long_form

IGNORED = shutil.ignore_patterns("*.egg-info", "build", "__pycache__")
KINDS = (
    "storage",
    "layer",
    "strategy",
    "check",
    "policy",
    "subscriber",
    "notifier",
    "job",
    "endpoint",
    "page",
    "slot",
    "command",
    "metric",
    "doctor",
    "tables",
)
EXAMPLES = (
    "frepo-check-clamav",
    "frepo-subscriber-diary",
    "frepo-pages-wallboard",
    "frepo-policy-hours",
    "frepo-job-report",
    "frepo-feed-versions",
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Write one package of each kind; return their folder."""
    folder = tmp_path_factory.mktemp("packages")
    assert [0] * len(KINDS) == [write_plugin(kind, f"my_{kind}", folder).returncode for kind in KINDS]
    for kind in ("subscriber", "job"):
        assert 0 == write_plugin(kind, f"my_set_{kind}", folder, "--settings").returncode
    assert 0 == write_several("my_all", folder, ",".join(kind for kind in KINDS if kind != "layer")).returncode
    for example in EXAMPLES:
        shutil.copytree(ROOT / "examples" / example, folder / example, ignore=IGNORED)
    return folder


def write_plugin(kind, name, folder, *options):
    """Run the console in a process of its own, because it changes how this one logs."""
    command = [Path(sys.executable).with_name("frepo"), "plugin:new", kind, name, "--in", folder, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write_several(name, folder, kinds, *options):
    command = [Path(sys.executable).with_name("frepo"), "plugin:new", name, "--with", kinds, "--in", folder, *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, "-m", *command], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def install_and_test(packages, tmp_path):
    """Build a wheel of each package, install them, and run their tests; return the status and the output."""
    folders = sorted(packages.iterdir())
    wheels = build([shutil.copytree(path, tmp_path / "sources" / path.name) for path in folders], tmp_path / "wheels")
    options = ("--no-deps", "--no-index", "--no-compile", "--target", str(tmp_path / "site"))
    installed, told = run("pip", "install", "-q", *options, *map(str, wheels.iterdir()))
    assert 0 == installed, told
    return run(
        "pytest",
        "-q",
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        f"--rootdir={packages}",
        *map(str, folders),
        PYTHONPATH=str(tmp_path / "site"),
    )


@only_in_long_form
def test_the_packages_install_and_pass_their_tests(packages, tmp_path):
    passed, told = install_and_test(packages, tmp_path)

    assert 0 == passed, told
    assert " passed" in told


@pytest.mark.costly
def test_a_package_of_several_kinds_installs_and_passes_its_tests(tmp_path):
    (tmp_path / "packages").mkdir()
    assert 0 == write_several("wal", tmp_path / "packages", "tables,job,slot,endpoint", "--settings").returncode

    passed, told = install_and_test(tmp_path / "packages", tmp_path)

    assert (0, True) == (passed, "9 passed" in told), told


def test_a_name_that_is_not_valid_is_refused(tmp_path):
    done = write_plugin("check", "My-Check", tmp_path)

    assert (1, []) == (done.returncode, list(tmp_path.iterdir()))
    assert "'My-Check'; write small letters" in done.stderr


def test_a_strategy_has_options_instead_of_settings(tmp_path):
    done = write_plugin("strategy", "keep_all", tmp_path, "--settings")

    assert (1, []) == (done.returncode, list(tmp_path.iterdir()))
    assert "--settings: is not for a strategy; it has options" in done.stderr


def test_a_folder_that_exists_is_not_touched(tmp_path):
    write_plugin("job", "my_job", tmp_path)
    before = sorted(tmp_path.rglob("*"))

    done = write_plugin("job", "my_job", tmp_path)

    assert (1, before) == (done.returncode, sorted(tmp_path.rglob("*")))
    assert "frepo-job-my-job cannot be written: File exists" in done.stderr
