"""How many transactions an upload opens, and for what."""

from collections import defaultdict

import pytest
from sqlalchemy import event

from support.client import COLLECTIONS

KEY = {"Idempotency-Key": "k1"}


@pytest.fixture
def transactions(services):
    """Collect the statements of each transaction from now on."""
    found = defaultdict(list)

    def begin(connection):
        found[len(found)]

    def execute(connection, cursor, statement, *_):
        if not statement.startswith("BEGIN"):
            found[len(found) - 1].append(statement)

    event.listen(services.database.engine, "begin", begin)
    event.listen(services.database.engine, "before_cursor_execute", execute)
    yield found
    event.remove(services.database.engine, "begin", begin)
    event.remove(services.database.engine, "before_cursor_execute", execute)


def reading(table, transactions):
    """Return the transactions that select from a table."""
    return [number for number, statements in transactions.items() if any(f"FROM {table} " in s for s in statements)]


def push(root, collection, **more):
    assert 200 == root.push(collection, b"dump", **more).status_int


def upload(root, collection, **more):
    assert 200 == root.upload(b"dump", **more).status_int


def test_an_upload_without_an_idempotency_key_looks_for_none(root, collection, transactions):
    for send in [push, upload]:
        send(root, collection)

        assert [] == reading("upload", transactions), send
        assert [] == [number for number, statements in transactions.items() if not statements], send


@pytest.mark.parametrize("send", [push, upload])
def test_an_idempotency_key_is_looked_for_before_the_bytes_are_stored_and_in_the_write(
    root, collection, transactions, send
):
    send(root, collection, headers=KEY)

    assert 2 == len(reading("upload", transactions))


def test_a_version_reads_its_collection_for_the_rights_for_the_early_check_and_in_the_write(
    root, collection, transactions
):
    push(root, collection)

    assert 3 == len(reading("collection", transactions))


def test_a_collection_and_its_list_are_read_in_one_transaction(root, collection, transactions):
    root.get(f"{COLLECTIONS}/{collection}")

    assert 1 == len(reading("collection", transactions))
    assert reading("collection", transactions) == reading("collection_token", transactions)
