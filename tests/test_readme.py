import contextlib
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


@pytest.fixture
def fresh_clone(service, tmp_path):
    """A folder that looks, from the README's lines, like a clone in which `make serve` runs."""
    if not shutil.which("sqlite3"):
        pytest.skip("sqlite3 is not installed: make services")
    folder = tmp_path / "clone"
    folder.mkdir()
    (folder / ".venv").symlink_to(sys.prefix)
    (folder / "development.ini").symlink_to(ROOT / "development.ini")
    (folder / "var").symlink_to(service.folder)
    (folder / "var/admin-token").write_text(f"{service.admin}\n")
    return folder


def test_the_six_lines_dump_and_restore(service, fresh_clone):
    [lines] = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    script = lines.replace("http://127.0.0.1:6543", service.url)

    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=fresh_clone,
        env=service.environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    with contextlib.closing(sqlite3.connect(fresh_clone / "restored.db")) as restored:
        assert restored.execute("SELECT filename, max_backups_count FROM collection").fetchall() == [
            ("night.sql.gz", 3)
        ]
    assert len(lines.splitlines()) == 6


@pytest.mark.parametrize("path", re.findall(r"^- \[\S+\]\((.*?)\)|^\| `(frepo_\w+/)` \|", README, re.MULTILINE))
def test_what_the_readme_points_to_is_there(path):
    assert (ROOT / "".join(path)).exists()


def test_the_map_has_every_room():
    source = ROOT / "frepo_core/src/frepo_core"

    rooms = {f"{path.name}/" for path in source.iterdir() if (path / "__init__.py").exists()}

    assert rooms == set(re.findall(r"`([a-z]+/)`", README.partition("| Room |")[2])) - {"var/"}
