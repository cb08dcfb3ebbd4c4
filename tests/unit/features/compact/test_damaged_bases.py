"""A base, or a content, that is damaged before or while it is used: no object is made of wrong bytes."""

import pytest

from frepo_core.services.upkeep.storage import verify


def flip(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.chmod(0o600)
    path.write_bytes(data)


@pytest.mark.parametrize("damaged", [2, 3, 4], ids=["the content", "what it was a difference to", "the new base"])
def test_nothing_is_made_of_wrong_bytes(history, services, backend, damaged):
    """In the fourth night, the second version becomes a difference to the fourth, and so does the third."""
    collection = history.make()
    for _ in range(3):
        history.night(collection)
    before = {number: row.key for number, row in history.rows(collection).items()}
    history.push(collection)
    services.blobs.gate.delete_superseded("local", 1 << 40, reads=True)
    rows = history.rows(collection)
    flip(backend.path(rows[damaged].key))

    summary = history.job()

    found = {one.key for one in verify(services.database, services.backends).damaged}
    expected = {2: {1, 2}, 3: {1, 2, 3}, 4: {4}}[damaged]
    assert {2: 1, 3: 2, 4: 2}[damaged] == summary["failed"]
    assert {row.key for number, row in history.rows(collection).items() if number in expected} == found
    for number, row in history.rows(collection).items():
        if number in expected:
            assert before.get(number, row.key) == row.key
        else:
            assert history.contents[collection][number] == history.read(row)
