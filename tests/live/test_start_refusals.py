"""Starts of the real service that end with a message."""

import os
import subprocess

import pytest

from support.logs import log_recorder
from support.paths import ROOT
from support.servers.service import BIN


def test_production_does_not_start_without_a_database_url(tmp_path):
    environment = {"PATH": os.environ["PATH"], "APP_SECRET": "a-5ecre7", "ENC_TOKEN_PHRASE": "b-5ecre7"}
    done = subprocess.run(
        [BIN / "pserve", str(ROOT / "production.ini")],
        env={**environment, **log_recorder.environment(), "DATABSE_URL": f"sqlite:///{tmp_path}/meant.db"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    log_recorder.record_output(done.stderr)
    assert "database.url (DATABASE_URL) must be set" in done.stderr
    assert "Did you mean DATABASE_URL?" in done.stderr
    assert "Traceback" not in done.stderr
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])


@pytest.mark.costly
def test_a_python_without_sqlite_is_reported(tmp_path):
    (tmp_path / "_sqlite3.py").write_text("raise ModuleNotFoundError('No module named _sqlite3', name='_sqlite3')")
    environment = {"PATH": os.environ["PATH"], "DATABASE_URL": f"sqlite:///{tmp_path}/frepo.db"}
    done = subprocess.run(
        [BIN / "pserve", str(ROOT / "development.ini")],
        env={**environment, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert "built without SQLite" in done.stderr
    assert "Traceback" not in done.stderr
    assert 0 != done.returncode
