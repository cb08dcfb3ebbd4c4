"""A request waits for a database server for a limited time only."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest
from sqlalchemy import make_url, select, text

from frepo_core.db import Database, make_engine
from frepo_core.db.models import Tag
from frepo_core.db.waiting.watch import Watch
from frepo_core.errors import DatabaseUnavailableError
from frepo_core.services.base.plugin_deadlines import PluginThreads
from support.reliability.faulty_proxy import FaultyProxy
from support.reliability.invariants import eventually

pytestmark = pytest.mark.databases("postgresql", "mariadb")
TAGS = select(Tag.__table__.c.name)
SLEEP = {"postgresql": "SELECT pg_sleep(20)", "mariadb": "SELECT SLEEP(20)"}
PATIENT = 600


@dataclass
class Threads:
    count: int = 4
    idle: int = 1
    queued: int = 0


@pytest.fixture
def proxy(database_url):
    with FaultyProxy(f"127.0.0.1:{make_url(database_url).port}") as proxy:
        yield proxy


@pytest.fixture
def database(database_url, proxy):
    url = make_url(database_url).set(port=int(proxy.url.rpartition(":")[2]))
    database = Database(make_engine(url.render_as_string(hide_password=False)))
    database.fetch_rows(TAGS)
    yield database
    database.engine.dispose()


def ask(database, seconds, query=TAGS):
    """Return whether a request with this patience got an answer."""
    with database.request(seconds):
        try:
            with database.reading() as session:
                session.execute(query).all()
        except DatabaseUnavailableError:
            return False
        return True


def write(database):
    """Return whether a large upload could commit."""
    with database.request(1, PATIENT):
        try:
            database.write(lambda session: session.execute(TAGS).all())
        except DatabaseUnavailableError:
            return False
        return True


def silence(proxy):
    proxy.arm("hold", "down", 1)


def test_a_request_ends_when_its_time_is_over(database, database_kind):
    assert not ask(database, 1, query=text(SLEEP[database_kind]))
    assert ask(database, 1)


def test_a_request_waits_no_longer_for_several_statements_than_for_one(database, database_kind):
    one_second = text(SLEEP[database_kind].replace("20", "1"))

    with database.request(1.5), pytest.raises(DatabaseUnavailableError), database.reading() as session:
        for _ in range(10):
            session.execute(one_second).all()


def test_a_request_with_much_work_for_a_database_that_answers_is_not_ended(database, database_kind):
    quick = text(SLEEP[database_kind].replace("20", "0.02"))

    with database.request(1), database.reading() as session:
        for _ in range(80):
            session.execute(quick).all()


def test_a_request_waits_no_longer_in_a_thread_that_calls_a_plug_in_or_a_storage(database, database_kind):
    threads = PluginThreads("test", 30)

    def work():
        database.fetch_rows(text(SLEEP[database_kind]))

    with database.request(1), pytest.raises(DatabaseUnavailableError):
        threads.call(work)


def test_while_the_database_is_silent_requests_fail_and_then_work_again(database, proxy):
    silence(proxy)
    assert not ask(database, 3)
    assert eventually(lambda: Watch.of(database.engine).hangs, 60)

    with ThreadPoolExecutor(32) as threads:
        assert {False} == set(threads.map(lambda _: ask(database, PATIENT), range(100)))

    proxy.release()
    assert eventually(lambda: ask(database, PATIENT), 60)


def test_a_job_goes_on_waiting_while_requests_fail(database, proxy, database_kind):
    query = text(SLEEP[database_kind].replace("20", "4"))

    def work():
        with database.reading() as session:
            return len(session.execute(query).all())

    with ThreadPoolExecutor() as threads:
        job = threads.submit(work)
        assert not ask(database, 1, query=query)

        assert 1 == job.result(30)


@pytest.mark.parametrize(("threads", "gets_answer"), [(Threads(), True), (Threads(idle=0, queued=1), False)])
def test_a_request_that_waits_gives_up_the_last_thread(database, database_kind, threads, gets_answer):
    database.serve_with(threads)

    assert gets_answer == ask(database, PATIENT, query=text(SLEEP[database_kind].replace("20", "5")))


def test_a_large_upload_waits_longer_but_not_in_all_threads(database, proxy):
    database.serve_with(Threads(count=3))
    silence(proxy)
    with ThreadPoolExecutor() as threads:
        uploads = [threads.submit(write, database) for _ in range(3)]
        assert eventually(lambda: any(upload.done() for upload in uploads), 60)
        time.sleep(1)
        proxy.release()

        assert [False, True, True] == sorted(upload.result(30) for upload in uploads)
