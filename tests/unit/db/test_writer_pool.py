"""Writers get the connection that wrote last: its pages are still in its cache."""

import threading

import pytest
from sqlalchemy import text

from frepo_core.db import Database, make_engine

WAIT = 60


@pytest.fixture
def database(tmp_path):
    engine = make_engine(f"sqlite:///{tmp_path}/test.db")
    database = Database(engine)
    database.write(lambda session: session.execute(text("CREATE TABLE one (number INTEGER)")))
    yield database
    engine.dispose()


def driver_connection(session):
    return session.connection().connection.dbapi_connection


def test_all_threads_write_by_one_connection_while_others_read_by_others(database):
    started, ended = threading.Barrier(5), threading.Event()

    def read():
        with database.reading() as session:
            driver_connection(session)
            started.wait(WAIT)
            ended.wait(WAIT)

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    started.wait(WAIT)
    ended.set()  # the pool has some connections now
    for reader in readers:
        reader.join()
    written, read_by = set(), set()

    def work(session):
        session.execute(text("INSERT INTO one VALUES (1)"))
        written.add(driver_connection(session))

    def write():
        for _ in range(5):
            with database.reading() as session:
                read_by.add(driver_connection(session))
            database.write(work)

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()

    assert len(written) == 1
    assert not written & read_by


def test_one_client_reads_and_writes_by_one_connection(database):
    used = set()
    for _ in range(3):
        with database.reading() as session:
            used.add(driver_connection(session))
        database.write(lambda session: used.add(driver_connection(session)))

    assert len(used) == 1


def test_the_log_of_frepo_has_nothing_of_it(services, caplog):
    with caplog.at_level("DEBUG", "frepo_core"):
        services.database.engine.dispose()

    assert [] == [record.name for record in caplog.records if record.name.startswith("frepo")]
