"""How `make serve` installs the parts of this project."""

import os
import subprocess
import sysconfig
import venv

import pytest

from support.servers.service import ROOT

PART = """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "frepo-part"
version = "1"
[project.entry-points."frepo.commands"]
"""


@pytest.fixture
def install(tmp_path):
    """Install what a file of requirements has, into an environment of its own."""
    venv.EnvBuilder().create(tmp_path / "environment")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{sysconfig.get_path('purelib')}"}

    def install(requirements, *options, folder=ROOT):
        file = tmp_path / "requirements.txt"
        file.write_text(requirements)
        command = [tmp_path / "environment/bin/python", "-m", "release.editable", file, "--no-index", *options]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    return install


@pytest.fixture
def installed(tmp_path):
    """Return the text of an installed file."""

    def read(pattern):
        (path,) = tmp_path.glob(f"environment/lib/python*/site-packages/{pattern}")
        return path.read_text()

    return read


@pytest.mark.costly
def test_the_parts_are_installed_in_editable_mode_without_a_word(install, installed):
    done = install("# Two of them.\n-e ./frepo_core[compact]\n-e ./frepo_console\n", "--no-deps")

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert f"{ROOT}/frepo_core/src" in installed("__editable__.frepo_core-*.pth")
    assert f"{ROOT}/frepo_console/src" in installed("__editable__.frepo_console-*.pth")
    assert "[frepo.commands]" in installed("frepo_core-*.dist-info/entry_points.txt")


@pytest.mark.costly
def test_a_part_is_installed_with_its_extras(install):
    done = install("-e ./frepo_core[nonsense]\n", "--dry-run")

    assert "does not provide the extra 'nonsense'" in done.stderr


@pytest.mark.costly
def test_a_failure_of_pip_is_the_status(install):
    done = install("frepo-nothing\n", "--dry-run")

    assert 1 == done.returncode
    assert "No matching distribution found for frepo-nothing" in done.stderr


@pytest.mark.costly
def test_a_new_entry_point_of_a_part_is_there_after_the_next_installation(install, installed, tmp_path):
    """pip passes over a version that is installed, and an editable part keeps its version for months."""
    (tmp_path / "frepo_part").mkdir()
    for command in ("first", "second"):
        (tmp_path / "frepo_part/pyproject.toml").write_text(PART + f'{command} = "frepo_part:main"\n')

        done = install("-e ./frepo_part\n", folder=tmp_path)

        assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
        assert f"{command} = frepo_part:main" in installed("frepo_part-*.dist-info/entry_points.txt")
