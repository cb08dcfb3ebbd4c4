"""The commands of the pages that docs/operations.md names work as described."""

import json
import os
import re
import subprocess
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from frepo_core.features.assembly import FEATURES
from frepo_core.services.composition.builtin_jobs import BUILTIN_JOBS
from support.logs import log_recorder
from support.servers.service import BIN, ROOT, Service

NAMES = ("install", "backup-of-frepo", "jobs", "upkeep")
TEXT = "\n".join((ROOT / f"docs/{name}.md").read_text() for name in NAMES)
STORAGE = "/var/lib/frepo/storage"


def section(title):
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def commands(title):
    """Return the lines of the section's shell blocks that require neither root nor the internet."""
    lines = "\n".join(re.findall(r"```sh\n(.*?)```", section(title), re.DOTALL)).splitlines()
    return [line for line in lines if line.startswith(("frepo ", "pg_", "cp ", "mkdir "))]


def run(lines, environment, **more):
    """Run the lines as a script, with the paths of this test."""
    script = "\n".join(lines).replace(STORAGE, environment["FS_LOCAL_DIRECTORY"])
    path = {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "FREPO_INI": str(ROOT / "production.ini")}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        env=environment | path | more,
        capture_output=True,
        text=True,
        check=False,
    )
    log_recorder.record_output(done.stderr)
    return done


@pytest.fixture
def state(tmp_path, make_database):
    """The environment of an installation with a separate database and directory."""
    return {
        **log_recorder.environment(),
        "DATABASE_URL": make_database(),
        "APP_SECRET": "app-5ecre7",
        "ENC_TOKEN_PHRASE": "phrase-5ecre7",
        "FS_LOCAL_DIRECTORY": str(tmp_path / "storage"),
        "TEMP_DIRECTORY": str(tmp_path / "temporary"),
    }


@pytest.mark.costly
def test_the_first_token_is_what_the_install_ends_with(state):
    done = run(commands("Install"), state)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(r"[0-9a-f-]{36}", done.stdout.splitlines()[-1])


@pytest.mark.costly
def test_a_backup_restores(local_site, state, tmp_path):
    path, content = local_site.collection(), os.urandom(10_000)
    local_site.push(path, content)
    made = run(commands("Back up"), local_site.environment, BACKUP=str(tmp_path))

    # The copy is in the parent folder of the restored storage, so restore from another folder.
    state = state | {"FS_LOCAL_DIRECTORY": str(tmp_path / "restored")}
    done = run(commands("Restore"), state, BACKUP=str(tmp_path))

    assert (made.returncode, made.stderr) == (0, "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"missing +\| +\[\]|missing +\| +\|", done.stdout), done.stdout
    assert re.search(r"damaged +\| +\[\]|damaged +\| +\|", done.stdout), done.stdout
    assert content in [blob.read_bytes() for blob in Path(state["FS_LOCAL_DIRECTORY"]).rglob("*") if blob.is_file()]


@pytest.mark.costly
def test_a_backup_of_sqlite_restores(service, tmp_path):
    before, after, backup = (tmp_path / name for name in ("before", "after", "backup"))
    for folder in (before, after, backup):
        folder.mkdir()
    (before / "var").symlink_to(service.folder)
    blocks = re.findall(r"```sh\n(.*?)```", section("Back up and restore SQLite"), re.DOTALL)
    asking = {"X-Auth-Token": service.admin, "Content-Type": "application/octet-stream"}
    with urlopen(Request(f"{service.url}/repository/file/upload?fileName=a.txt", b"content", asking)) as answer:
        name = json.load(answer)["filename"]

    made = run([f"cd {before}", blocks[0]], service.environment, BACKUP=str(backup))
    restored = restored_in(after)
    more = {"BACKUP": str(backup), "SECRETS": str(service.folder), "FREPO_INI": str(restored.ini)}
    done = run([f"cd {after}", blocks[1]], restored.environment, **more)

    assert (made.returncode, made.stderr) == (0, "")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"checked +\| +1\b", done.stdout), done.stdout
    restored.start()
    with urlopen(Request(f"{restored.url}/repository/file/{name}", headers=asking)) as answer:
        assert answer.read() == b"content"
    restored.stop()


def restored_in(folder):
    """A service whose state is in `var`, as in development.ini."""
    var = folder / "var"
    environment = {
        "DATABASE_URL": f"sqlite:///{var}/frepo.db",
        "FS_LOCAL_DIRECTORY": str(var / "storage"),
        "APP_SECRETS_FILE": str(var / "secrets.json"),
    }
    return Service(folder, environment)


@pytest.mark.costly
def test_the_upkeep_by_hand_succeeds_on_a_healthy_service(local_site):
    lines = sorted(set(re.findall(r"`(frepo storage:(?:verify|sweep))`", section("What the jobs verify and delete"))))

    done = run(lines, local_site.environment)

    assert len(lines) == 2
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_jobs_is_that_of_the_service():
    rows = re.findall(r"^\| `(\w+)` \| `([^`]+)`", section("Jobs"), re.MULTILINE)
    rows = [row for row in rows if row[0] not in {"uploads", "parts", "wal"}]  # of plug-ins

    jobs = [*BUILTIN_JOBS, *(job for feature in FEATURES for job in feature.jobs)]
    assert len(rows) == len(jobs)
    assert {(job.name, job.schedule) for job in jobs} == set(rows)


def test_no_crontab_is_needed():
    assert "/etc/cron" not in TEXT
    assert not re.search(r"^[\d*]+( [\d*,/-]+){4} +root", TEXT, re.MULTILINE)


@pytest.mark.costly
def test_bytes_move_to_s3(state, bucket):
    s3 = {f"FS_AWSS3V3_{name.upper()}": value for name, value in bucket.items()} | {"FS_ADAPTER": "awss3v3"}
    run(["frepo db:upgrade --create"], state)

    done = run(commands("Move to another storage"), state | s3)

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_files_that_the_page_names_are_there():
    paths = set(re.findall(r"(?:\]\(|install -m \d+ )((?:\.\./)?deploy[\w/@.]*)", TEXT))

    assert paths
    assert [] == [path for path in paths if not (ROOT / path.removeprefix("../")).exists()]
