"""The last use of each token: in memory until it is written once a minute, so that no request writes for it."""

import sqlite3
import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, text

from frepo_core.domain.roles import Role
from frepo_core.errors import AccessDeniedError, DatabaseUnavailableError
from frepo_core.services.access import token_last_use
from frepo_core.services.access.token_last_use import TokenUses, UseRecorder

MORNING = datetime(2026, 11, 22, 6, tzinfo=UTC)


class Clock:
    """A clock that a test sets."""

    def __init__(self):
        self.now = MORNING

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def process(services, clock):
    """Another process of the service: it has uses of its own, and the same database."""
    return lambda: TokenUses(services.database, clock=clock)


@pytest.fixture
def token(services, make_token):
    """The key and the fingerprint of a token."""
    return services.tokens.look_up(make_token(Role.UPLOAD_ALL))


@pytest.fixture
def last_use(services):
    """Return when and from where the token with this fingerprint was used last, as the inventory shows it."""

    def last_use(fingerprint):
        shown = services.token_inventory.show(fingerprint, by=None)
        return shown.last_used_at, shown.last_used_from

    return last_use


@pytest.mark.databases
def test_a_use_is_known_after_the_next_write(services, make_token, last_use):
    token_id = make_token(Role.UPLOAD_ALL)
    fingerprint = services.tokens.look_up(token_id).fingerprint
    services.tokens.identify(token_id, address="192.0.2.7", user_agent="")
    before = last_use(fingerprint)
    services.token_uses.flush()

    assert (None, None) == before
    at, address = last_use(fingerprint)
    assert "192.0.2.7" == address
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=1)


def test_requests_write_nothing(services, make_token):
    token_id = make_token(Role.UPLOAD_ALL)
    written = []
    event.listen(services.database.engine, "before_cursor_execute", lambda *call: written.append(call[2]))
    for _ in range(3):
        services.tokens.identify(token_id, address="192.0.2.7", user_agent="")

    assert [] == [statement for statement in written if not statement.startswith("SELECT")]


def test_a_refused_use_does_not_count(services, make_token, last_use):
    token_id = make_token(Role.UPLOAD_ALL, ip_addresses=["10.0.0.0/8"])
    with pytest.raises(AccessDeniedError):
        services.tokens.identify(token_id, address="192.0.2.7", user_agent="")
    services.token_uses.flush()

    assert (None, None) == last_use(services.tokens.look_up(token_id).fingerprint)


def test_many_uses_are_one_row(process, token, clock):
    uses = process()
    for second in range(100):
        clock.now = MORNING + timedelta(seconds=second)
        uses.note(token.token, "192.0.2.7")

    assert [1, 0] == [uses.flush(), uses.flush()]


@pytest.mark.databases
@pytest.mark.parametrize("first_writer", [0, 1])
def test_the_latest_use_of_all_processes_stands(process, token, clock, last_use, first_writer):
    processes = [process(), process()]
    processes[0].note(token.token, "192.0.2.1")
    clock.now += timedelta(seconds=20)
    processes[1].note(token.token, "192.0.2.2")
    for writer in (processes[first_writer], processes[1 - first_writer]):
        writer.flush()

    assert (clock.now, "192.0.2.2") == last_use(token.fingerprint)


@pytest.mark.databases
def test_processes_that_write_the_same_tokens_at_once_succeed(services, process, make_token, clock, at_once):
    tokens = [services.tokens.look_up(make_token(Role.UPLOAD_ALL)) for _ in range(40)]
    processes = [process() for _ in range(4)]
    for number, uses in enumerate(processes):
        for token in tokens if number % 2 else reversed(tokens):
            clock.now += timedelta(microseconds=1)
            uses.note(token.token, f"192.0.2.{number}")

    assert [40] * 4 == at_once(TokenUses.flush, processes)
    shown = [services.token_inventory.show(token.fingerprint, by=None) for token in tokens]
    assert {"192.0.2.3"} == {token.last_used_from for token in shown}


@pytest.mark.databases
def test_a_token_that_was_deleted_meanwhile_is_no_error(services, process, token, make_token, last_use):
    other = services.tokens.look_up(make_token(Role.UPLOAD_ALL))
    uses = process()
    uses.note(token.token, "192.0.2.7")
    uses.note(other.token, "192.0.2.7")
    services.token_changes.revoke(token.fingerprint)
    uses.flush()

    assert (MORNING, "192.0.2.7") == last_use(other.fingerprint)


def test_a_locked_database_loses_no_use_and_delays_no_request(
    services, process, token, make_token, clock, last_use, monkeypatch
):
    monkeypatch.setattr("frepo_core.db.transactions.BUSY_SECONDS", 0.2)
    engine = services.database.engine
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA busy_timeout=200"))
    engine.dispose()
    uses = process()
    uses.note(token.token, "192.0.2.1")
    connection = sqlite3.connect(engine.url.database, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseUnavailableError):
        uses.flush()
    clock.now += timedelta(seconds=30)
    uses.note(token.token, "192.0.2.2")
    with pytest.raises(DatabaseUnavailableError):
        uses.flush()
    connection.close()

    assert 1 == uses.flush()
    assert (clock.now, "192.0.2.2") == last_use(token.fingerprint)


def test_a_database_that_became_read_only_loses_no_use(services, process, token, last_use):
    uses = process()
    uses.note(token.token, "192.0.2.1")
    with services.database.engine.connect() as connection:
        connection.execute(text("PRAGMA query_only = ON"))  # the pool gives this connection to the next writer
        connection.commit()
    with pytest.raises(DatabaseUnavailableError):
        uses.flush()
    services.database.engine.dispose()

    assert 1 == uses.flush()
    assert (MORNING, "192.0.2.1") == last_use(token.fingerprint)


def test_a_write_that_fails_in_the_middle_is_continued(services, process, make_token, at_statement, monkeypatch):
    monkeypatch.setattr(token_last_use, "BATCH", 2)
    uses = process()
    for _ in range(5):
        uses.note(services.tokens.look_up(make_token(Role.UPLOAD_ALL)).token, "192.0.2.7")

    def fail():
        raise DatabaseUnavailableError("gone")

    at_statement("UPDATE token", fail, nth=2)
    with pytest.raises(DatabaseUnavailableError):
        uses.flush()

    assert 3 == uses.flush()


def test_the_memory_is_bounded_and_the_oldest_use_is_forgotten(services, process, make_token, last_use, monkeypatch):
    monkeypatch.setattr(token_last_use, "MAX_TOKENS", 2)
    tokens = [services.tokens.look_up(make_token(Role.UPLOAD_ALL)) for _ in range(3)]
    uses = process()
    for token in (tokens[0], tokens[1], tokens[0], tokens[2]):
        uses.note(token.token, "192.0.2.7")

    assert 2 == uses.flush()
    assert [MORNING, None, MORNING] == [last_use(token.fingerprint)[0] for token in tokens]


def test_a_service_in_read_only_mode_remembers_nothing(services, token):
    uses = TokenUses(services.database, is_read_only=True)
    uses.note(token.token, "192.0.2.7")

    assert 0 == uses.flush()


def test_the_uses_are_written_each_minute_and_at_the_stop(process, token, last_use):
    uses, waits = process(), []
    recorder = UseRecorder(uses)
    may_go_on, was_written = threading.Event(), threading.Event()

    class Minute(threading.Event):
        """The wait of a minute ends when the test says so."""

        def wait(self, timeout=None):
            waits.append(timeout)
            if len(waits) == 2:
                was_written.set()
            may_go_on.wait(60)
            may_go_on.clear()
            return self.is_set()

        def set(self):
            super().set()
            may_go_on.set()

    recorder._wants_stop = Minute()
    recorder.start()
    uses.note(token.token, "192.0.2.1")
    may_go_on.set()
    assert was_written.wait(60)
    after_a_minute = last_use(token.fingerprint)[1]
    uses.note(token.token, "192.0.2.2")
    uses._clock.now += timedelta(seconds=1)
    uses.note(token.token, "192.0.2.2")
    recorder.stop()

    assert ("192.0.2.1", [60.0, 60.0]) == (after_a_minute, waits)
    assert "192.0.2.2" == last_use(token.fingerprint)[1]


def test_a_failure_is_logged_once_until_a_write_succeeds(process, token, caplog):
    recorder = UseRecorder(process())
    flush = recorder._uses.flush

    def fail():
        raise DatabaseUnavailableError("The database does not answer")

    for outcome in (fail, fail, flush, fail):
        recorder._uses.flush = outcome
        recorder._flush()

    logged = [record.getMessage() for record in caplog.records if "last uses of tokens" in record.getMessage()]
    assert 2 == len(logged)
    assert "The database does not answer" in logged[0]


def test_the_service_writes_the_uses_when_it_stops(services, make_token, last_use):
    token_id = make_token(Role.UPLOAD_ALL)
    services.service_time.start()
    services.tokens.identify(token_id, address="192.0.2.7", user_agent="")
    services.service_time.stop()

    assert "192.0.2.7" == last_use(services.tokens.look_up(token_id).fingerprint)[1]
