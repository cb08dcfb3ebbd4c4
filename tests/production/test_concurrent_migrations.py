"""Two processes that migrate concurrently: one migrates, the other waits and finds nothing to do."""

import subprocess

import pytest
from sqlalchemy import make_url, text

from frepo_core.db import make_engine
from support.logs import log_recorder
from support.servers.fork_server import ForkedProcess
from support.servers.service import BIN, ROOT

pytestmark = pytest.mark.costly

# Each name of the driver is a dialect of its own to SQLAlchemy.
DRIVERS = ["postgresql", "mysql", "mariadb", "mariadb+pymysql"]


@pytest.fixture
def empty_database(request):
    """The URL of a database without tables."""
    kind = "postgresql" if request.param.startswith("postgresql") else "mariadb"
    with request.getfixturevalue(f"{kind}_server").fresh() as url:
        yield make_url(url).set(drivername=request.param).render_as_string(hide_password=False)


@pytest.mark.parametrize("empty_database", DRIVERS, indirect=True)
def test_two_concurrent_upgrades_succeed(empty_database, fork_server, tmp_path):
    environment = {
        **log_recorder.environment(),
        "DATABASE_URL": empty_database,
        "APP_SECRET": "app-5ecre7",
        "ENC_TOKEN_PHRASE": "phrase-5ecre7",
        "FS_LOCAL_DIRECTORY": str(tmp_path / "storage"),
        "TEMP_DIRECTORY": str(tmp_path / "temporary"),
    }
    command = ["--ini", str(ROOT / "production.ini"), "db:upgrade", "--create"]
    outputs, log = [tmp_path / f"output-{number}" for number in range(3)], tmp_path / "errors"

    upgrades = [
        ForkedProcess(
            fork_server,
            console=command,
            environment=environment,
            folder=str(tmp_path),
            output=str(output),
            log=str(log),
        )
        for output in outputs
    ]
    statuses = [upgrade.wait(60) for upgrade in upgrades]

    log_recorder.record_output(log.read_text())
    assert statuses == [0, 0, 0], log.read_text()
    assert sorted("is current" in output.read_text() for output in outputs) == [False, True, True]
    engine = make_engine(empty_database)
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM frepo_alembic_version")) == 1
    engine.dispose()


@pytest.mark.parametrize("empty_database", ["postgresql"], indirect=True)
def test_an_upgrade_names_an_empty_database_without_its_password(empty_database, tmp_path):
    url = make_url(empty_database)
    environment = log_recorder.environment() | {
        "DATABASE_URL": url.render_as_string(hide_password=False),
        "APP_SECRETS_FILE": str(tmp_path / "secrets.json"),
        "FREPO_INI": str(ROOT / "development.ini"),
        "FS_LOCAL_DIRECTORY": str(tmp_path / "storage"),
    }
    done = subprocess.run([BIN / "frepo", "db:upgrade"], env=environment, capture_output=True, text=True, check=False)

    log_recorder.record_output(done.stderr)
    assert (done.returncode, "frepo db:upgrade --create" in done.stderr) == (1, True)
    assert f"/{url.database}" in done.stderr
    assert url.password
    assert url.password not in done.stdout + done.stderr
