"""What `frepo plugin:new` writes, and the examples for checks and subscribers, can be installed and pass their tests."""

import os
import shutil
import subprocess
import sys

import pytest

from frepo_core.cli.app import main
from support.paths import ROOT

IGNORED = shutil.ignore_patterns("*.egg-info", "build", "__pycache__")
KINDS = ("storage", "strategy", "check", "subscriber", "job")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Write one package of each kind; return their folder."""
    folder = tmp_path_factory.mktemp("packages")
    assert [0] * len(KINDS) == [main(["plugin:new", kind, f"my_{kind}", "--in", str(folder)]) for kind in KINDS]
    for example in ("frepo-check-clamav", "frepo-subscriber-diary"):
        shutil.copytree(ROOT / "examples" / example, folder / example, ignore=IGNORED)
    return folder


def run(*command, **environment):
    done = subprocess.run(
        [sys.executable, "-m", *command], env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_the_packages_install_and_pass_their_tests(packages, tmp_path):
    folders = [str(path) for path in sorted(packages.iterdir())]
    install = (
        "pip",
        "install",
        "-q",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--target",
        str(tmp_path / "site"),
    )

    installed, told = run(*install, *folders)
    assert 0 == installed, told
    passed, told = run(
        "pytest",
        "-q",
        "--import-mode=importlib",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        f"--rootdir={packages}",
        *folders,
        PYTHONPATH=str(tmp_path / "site"),
    )

    assert 0 == passed, told
    assert " passed" in told


def test_a_name_that_is_not_valid_is_refused(tmp_path, capsys):
    status = main(["plugin:new", "check", "My-Check", "--in", str(tmp_path)])

    assert (1, []) == (status, list(tmp_path.iterdir()))
    assert "'My-Check'; write small letters" in capsys.readouterr().err


def test_a_folder_that_exists_is_not_touched(packages, capsys):
    before = sorted(packages.rglob("*"))

    status = main(["plugin:new", "job", "my_job", "--in", str(packages)])

    assert (1, before) == (status, sorted(packages.rglob("*")))
    assert "frepo-job-my-job cannot be written: File exists" in capsys.readouterr().err
