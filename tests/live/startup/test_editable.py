"""How `make serve` installs the parts of this project."""

import subprocess
import sys

import pytest

from support.servers.service import ROOT


def install(folder, requirements, *options):
    file = folder / "requirements.txt"
    file.write_text(requirements)
    command = [sys.executable, "-m", "release.editable", file, "--no-index", "--disable-pip-version-check", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.costly
def test_the_parts_are_installed_in_editable_mode_without_a_word(tmp_path):
    requirements = "# Two of them.\n-e ./frepo_core[compact]\n-e ./frepo_console\n"
    done = install(tmp_path, requirements, "--no-deps", "--target", tmp_path / "installed")

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert f"{ROOT}/frepo_core/src" in only(tmp_path.glob("installed/__editable__.frepo_core-*.pth"))
    assert f"{ROOT}/frepo_console/src" in only(tmp_path.glob("installed/__editable__.frepo_console-*.pth"))
    assert "[frepo.commands]" in only(tmp_path.glob("installed/frepo_core-*.dist-info/entry_points.txt"))


@pytest.mark.costly
def test_a_part_is_installed_with_its_extras(tmp_path):
    done = install(tmp_path, "-e ./frepo_core[nonsense]\n", "--dry-run")

    assert "does not provide the extra 'nonsense'" in done.stderr


@pytest.mark.costly
def test_a_failure_of_pip_is_the_status(tmp_path):
    done = install(tmp_path, "frepo-nothing\n", "--dry-run")

    assert 1 == done.returncode
    assert "No matching distribution found for frepo-nothing" in done.stderr


def only(paths):
    (path,) = paths
    return path.read_text()
