"""Downloads of damaged and missing bytes: never sent, but read again, because they may be right again."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Event, StoredObject
from frepo_core.services.content.blobs import rereading
from frepo_core.services.upkeep.storage import Ownership, verify
from support.reliability.invariants import eventually

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def path(tmp_path):
    """Return the path of the only blob."""
    return lambda: next(path for path in (tmp_path / "storage").glob("*/*") if path.is_file())


@pytest.fixture
def damaged(uploader, services, path):
    """Upload a file, damage it and let it be found; its bytes are right again. Return its name."""

    def damaged(long_ago=timedelta(hours=1)):
        name = uploader.upload(CONTENT).json["filename"]
        path().write_bytes(CONTENT[:-1])
        verify(services.database, services.backends)
        path().write_bytes(CONTENT)
        date = update(StoredObject).values(read_at=utc_now() - long_ago)
        services.database.write(lambda session: session.execute(date))
        return name

    return damaged


def kinds(services):
    with services.database.reading() as session:
        return [kind for kind in session.scalars(select(Event.kind).order_by(Event.id)) if kind.startswith("blob.")]


def test_bytes_that_are_right_again_are_sent(damaged, anonymous, services):
    name = damaged()

    answer = anonymous.download(name)

    assert (200, CONTENT) == (answer.status_int, answer.body)
    assert ["blob.damaged", "blob.healed"] == kinds(services)


def test_bytes_that_are_still_wrong_are_not(damaged, anonymous, services, path):
    name = damaged()
    path().write_bytes(CONTENT[:-1])

    assert 500 == anonymous.download(name).status_int
    assert ["blob.damaged"] == kinds(services)


def test_they_are_read_once_a_minute_at_most(damaged, anonymous):
    name = damaged(long_ago=timedelta(seconds=30))

    assert 500 == anonymous.download(name).status_int


def test_a_download_does_not_wait_for_a_large_blob(damaged, anonymous, monkeypatch):
    monkeypatch.setattr(rereading, "WAIT_SECONDS", 0)
    name = damaged()

    assert anonymous.download(name).status_int in {200, 500}
    assert eventually(lambda: anonymous.download(name).status_int == 200)


def test_missing_bytes_of_an_exchanged_storage_are_a_503(uploader, anonymous, services, tmp_path):
    Ownership(services.database, services.backends).claim("local")
    name = uploader.upload(CONTENT).json["filename"]
    (tmp_path / "storage").rename(tmp_path / "disk")
    (tmp_path / "storage").mkdir()

    answer = anonymous.download(name)

    assert (503, 7016103) == (answer.status_int, answer.json["error_code"])
