"""How many statements the write path of an upload runs: each client waits for them."""

from contextlib import contextmanager

import pytest
from sqlalchemy import event

SECOND = {"storages": "second", "storage.second.adapter": "local"}


@pytest.fixture(params=["one storage", "two storages", "a mirror"])
def configuration(request):
    return request.param


@pytest.fixture
def ini(ini, tmp_path, configuration):
    if configuration == "one storage":
        return ini
    two = SECOND | {"storage.second.directory": str(tmp_path / "second")}
    return ini | two | ({"mirror": "second"} if configuration == "a mirror" else {})


@contextmanager
def counted(services):
    seen = []

    def note(connection, cursor, statement, *_):
        seen.append(statement)

    event.listen(services.database.engine, "before_cursor_execute", note)
    yield seen
    event.remove(services.database.engine, "before_cursor_execute", note)


STATEMENTS = {"new file": 6, "known file": 7, "new version": 13, "known version": 14}


def test_an_upload_runs_a_known_number_of_statements(services, upload, push, make_collection, configuration):
    """A mirror costs a new content one more: the wish for a copy."""
    collection, found = make_collection(), {}
    upload(b"first")
    push(collection, b"first version")
    for what, work in {
        "new file": lambda: upload(b"new"),
        "known file": lambda: upload(b"new"),
        "new version": lambda: push(collection, b"new version"),
        "known version": lambda: push(collection, b"new version"),
    }.items():
        with counted(services) as seen:
            work()
        found[what] = len(seen)

    more = int(configuration == "a mirror")
    assert {what: count + more * what.startswith("new") for what, count in STATEMENTS.items()} == found
