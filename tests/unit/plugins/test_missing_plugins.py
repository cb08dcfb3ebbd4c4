"""Without frepo-storage-local the service names the missing package: the core contains no storage."""

import subprocess
import sys
from pathlib import Path

import pytest

import frepo_core

pytestmark = pytest.mark.costly

SITE = Path(sys.modules["pluggy"].__file__).parents[1]
SOURCE = Path(frepo_core.__file__).parents[1]
HIDDEN = ("frepo_storage_local", "__editable__")
RUN = "import sys; from frepo_core.script import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def frepo(tmp_path):
    """Run the console in an environment without frepo-storage-local."""
    site = tmp_path / "site"
    site.mkdir()
    for entry in SITE.iterdir():
        if not entry.name.startswith(HIDDEN):
            (site / entry.name).symlink_to(entry)
    packages = [path for path in SOURCE.parents[1].glob("frepo_*/src") if path.parent.name != "frepo_storage_local"]

    def run(*arguments, **environment):
        paths = ":".join(str(path) for path in (site, *packages))
        # -S excludes the real site-packages with its editable installs.
        return subprocess.run(
            [sys.executable, "-S", "-W", "ignore", "-c", RUN, *arguments],
            env={"PYTHONPATH": paths, "DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db"} | environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    lines = ("[app:main]", "use = egg:frepo-core", "app.env = dev", "app.secrets_file = %(here)s/secrets.json")
    (tmp_path / "development.ini").write_text("\n".join(lines))
    return run


@pytest.mark.slow
def test_the_package_is_not_listed(frepo):
    done = frepo("plugins", "-f", "value", "-c", "Name")

    assert (0, False, True) == (done.returncode, "local" in done.stdout.split(), "ftp" in done.stdout.split())


@pytest.mark.slow
def test_a_refused_start_names_the_package_to_install(frepo):
    done = frepo("install")

    assert (1, True, False) == (
        done.returncode,
        "pip install frepo-storage-local" in done.stderr,
        "Traceback" in done.stderr,
    )
