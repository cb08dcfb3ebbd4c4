"""A read-only database, as after a failover: writes answer 503, reads still work."""

import os
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import event

READ_ONLY = {
    "sqlite": "PRAGMA query_only = ON",
    "postgresql": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "mysql": "SET SESSION TRANSACTION READ ONLY",
}


@pytest.fixture
def read_only(services):
    """Make each connection of the service read-only from now on."""
    engine = services.database.engine

    def connect(connection, record):
        cursor = connection.cursor()
        cursor.execute(READ_ONLY[engine.dialect.name])
        cursor.close()
        connection.commit()

    def switch():
        event.listen(engine, "connect", connect)
        engine.dispose()

    yield switch
    event.remove(engine, "connect", connect)
    engine.dispose()


def test_a_write_to_a_read_only_database_is_a_503(uploader, read_only):
    name = uploader.upload(b"before").json["filename"]
    read_only()

    answer = uploader.upload(b"after")

    assert (answer.status_int, answer.json["error_code"]) == (503, 7016102)
    assert "read-only" in answer.json["status"]
    assert "Retry-After" in answer.headers
    assert uploader.download(name).status_int == 200


def health(root):
    """Return what the health says about the database."""
    (found,) = [each for each in root.get("/api/v1/health").json["checks"] if each["name"] == "database"]
    return found


@pytest.mark.databases("postgresql", "mariadb")
def test_the_health_names_a_read_only_database(root, services, read_only):
    before = health(root)
    read_only()

    assert before["good"]
    assert not health(root)["good"]
    assert "read-only" in health(root)["problems"][0]


@pytest.mark.databases("sqlite")
def test_the_health_names_a_read_only_file(root, services, tmp_path):
    folder = Path(services.database.engine.url.database).parent
    if os.geteuid() or subprocess.run(["mount", "--bind", folder, folder], check=False, capture_output=True).returncode:
        pytest.skip("needs root, who may mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True)
        found = health(root)
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)

    assert not found["good"]
    assert "read-only" in found["problems"][0]
