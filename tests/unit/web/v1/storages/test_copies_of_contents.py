"""Lists of versions and files say how many copies each content has, with one query for a page."""

import pytest
from sqlalchemy import event, update

from frepo_core.db.models import StoredObject

COLLECTIONS, FILES = "/api/v1/collections", "/api/v1/files"


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings | {"mirror": "archive"}


@pytest.fixture
def make_present(services):
    return lambda: services.database.execute(update(StoredObject).values(state="present"))


@pytest.fixture
def statements(services):
    """Return the statements about second copies since the last call."""
    seen = []

    def listen(connection, cursor, statement, *_):
        seen.extend([statement] if "GROUP BY object.content_id" in statement else [])

    def statements():
        found, seen[:] = list(seen), []
        return found

    event.listen(services.database.engine, "before_cursor_execute", listen)
    yield statements
    event.remove(services.database.engine, "before_cursor_execute", listen)


def test_lists_say_how_many_copies_there_are(root, push, upload, make_present, statements):
    collection, without = (root.post(COLLECTIONS, {"name": "db", "mirror": name}).json["id"] for name in (None, "none"))
    for number in range(3):
        push(collection, b"version %d" % number)
        upload(b"file %d" % number)
    push(without, b"alone")
    make_present()
    push(collection, b"the newest")
    statements()

    listed = [one["copies"] for one in root.get(f"{COLLECTIONS}/{collection}/versions").json["items"]]
    assert [{"present": 1, "wanted": 2}, *3 * [{"present": 2, "wanted": 2}]] == listed
    assert 1 == len(statements())
    files = root.get(FILES).json["items"]
    assert 3 * [{"present": 2, "wanted": 2}] == [one["copies"] for one in files]
    assert 1 == len(statements())
    assert {"present": 2, "wanted": 2} == root.get(f"{FILES}/{files[0]['name']}").json["copies"]
    assert [None] == [one["copies"] for one in root.get(f"{COLLECTIONS}/{without}/versions").json["items"]]
