"""Uploads with the same Idempotency-Key at once: one of them stores, the others get its answer."""

import threading
from io import BytesIO

import pytest
from sqlalchemy import func, select

from frepo_core.db.models import File
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from support.scale import IS_BIG

CLIENTS, ROUNDS = 6, 40 if IS_BIG else 8


@pytest.fixture
def keyed_upload(services, sender):
    """Upload a plain file with a key; return its id. The content is that of a version already."""

    def keyed_upload(key, name="a.txt"):
        idempotency = IdempotentUpload(
            key=key,
            scope="file",
            serialize=lambda added: {"id": added.file.id},
        )
        incoming = Incoming(stream=BytesIO(key.encode()))
        added = services.files.add(NewFile(name=name), incoming, by=sender, idempotency=idempotency)
        return added.answer["id"] if isinstance(added, RecordedAnswer) else added.file.id

    return keyed_upload


@pytest.fixture
def count_plain(services):
    """Count the plain files."""

    def count_plain():
        with services.database.reading() as session:
            return session.scalar(select(func.count()).where(File.kind == "plain"))

    return count_plain


@pytest.mark.databases("postgresql", "mariadb")
def test_an_upload_that_commits_first_gives_its_answer_to_the_other(
    push, make_collection, keyed_upload, count_plain, at_statement
):
    push(make_collection(), b"key")
    first = []

    def overtake():
        other = threading.Thread(target=lambda: first.append(keyed_upload("key", "b.txt")))
        other.start()
        other.join()

    at_statement("INSERT INTO file", overtake)

    assert [keyed_upload("key")] == first
    assert 1 == count_plain()


@pytest.mark.slow
@pytest.mark.databases
def test_clients_that_upload_with_the_same_key_at_once_get_the_same_file(
    push, make_collection, keyed_upload, count_plain, at_once
):
    collection = make_collection(ROUNDS)
    for number in range(ROUNDS):
        push(collection, b"key %d" % number)

        assert 1 == len(set(at_once(keyed_upload, [f"key {number}"] * CLIENTS)))

    assert ROUNDS == count_plain()
