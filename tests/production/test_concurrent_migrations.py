"""Two processes that migrate concurrently: one migrates, the other waits and finds nothing to do."""

import subprocess

import pytest
from sqlalchemy import make_url, text

from frepo_core.db import make_engine
from support.servers import log_recorder, mariadb
from support.servers.service import BIN, ROOT


@pytest.fixture
def empty_database(request, make_database):
    """The URL of a database without tables."""
    if request.param == "postgresql":
        yield make_database()
        return
    if mariadb.MISSING:
        pytest.skip(mariadb.MISSING)
    with mariadb.mariadb() as url:
        yield make_url(url).set(drivername=request.param).render_as_string(hide_password=False)


@pytest.mark.parametrize("empty_database", ["postgresql", "mysql", "mariadb", "mariadb+pymysql"], indirect=True)
def test_two_concurrent_upgrades_succeed(empty_database, tmp_path):
    environment = {
        **log_recorder.environment(),
        "DATABASE_URL": empty_database,
        "APP_SECRET": "app-5ecre7",
        "ENC_TOKEN_PHRASE": "phrase-5ecre7",
        "FREPO_INI": str(ROOT / "production.ini"),
        "FS_LOCAL_DIRECTORY": str(tmp_path / "storage"),
        "TEMP_DIRECTORY": str(tmp_path / "temporary"),
    }

    upgrades = [
        subprocess.Popen(
            [BIN / "frepo", "db:upgrade", "--create"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(3)
    ]
    said = [upgrade.communicate(timeout=60) for upgrade in upgrades]

    log_recorder.record_output(b"".join(complaint for _, complaint in said).decode())
    assert [upgrade.returncode for upgrade in upgrades] == [0, 0, 0], said
    assert sorted("is current" in out.decode() for out, _ in said) == [False, True, True]
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
