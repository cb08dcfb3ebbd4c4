"""How `make serve` installs the parts of this project."""

import subprocess
import sys

from support.servers.service import ROOT


def test_the_parts_are_installed_in_editable_mode_without_a_word(tmp_path):
    (tmp_path / "requirements.txt").write_text("# Two of them.\n-e ./frepo_core[compact]\n-e ./frepo_console\n")
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", "--target", tmp_path / "installed"]
    command = [sys.executable, "-m", "release.editable", tmp_path / "requirements.txt", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert f"{ROOT}/frepo_core/src" in only(tmp_path.glob("installed/__editable__.frepo_core-*.pth"))
    assert f"{ROOT}/frepo_console/src" in only(tmp_path.glob("installed/__editable__.frepo_console-*.pth"))
    assert "[frepo.commands]" in only(tmp_path.glob("installed/frepo_core-*.dist-info/entry_points.txt"))


def only(paths):
    (path,) = paths
    return path.read_text()
