"""A read-only database, as after a failover: writes answer 503, reads still work."""

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
