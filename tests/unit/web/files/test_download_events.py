"""With `events.downloads = true`, each answer with the bytes of a file is an event."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event
from support.client import follow, with_settings

HERE = {"REMOTE_ADDR": "192.0.2.7"}
ON = with_settings(events__downloads="true")


@pytest.fixture
def downloads(services):
    def downloads():
        with services.database.reading() as session:
            return session.scalars(select(Event).where(Event.kind.like("%.downloaded")).order_by(Event.id)).all()

    return downloads


def test_downloads_are_no_events_by_default(root, downloads):
    assert 200 == root.download(root.upload().json["filename"]).status_int

    assert [] == downloads()


@ON
def test_a_download_with_and_without_a_token(services, root, anonymous, downloads):
    file = root.upload().json
    root.download(file["filename"], environ=HERE)
    anonymous.download(file["filename"], environ=HERE)

    known, unknown = downloads()
    assert ("file.downloaded", file["id"], services.tokens.fingerprint(root.token)) == (
        known.kind,
        known.file_id,
        known.actor,
    )
    assert ("anonymous", "192.0.2.7", file["filename"]) == (unknown.actor, unknown.address, unknown.data["name"])


@ON
def test_the_download_of_a_version_by_its_link(root, anonymous, collection, push, downloads):
    push(collection, b"hello")
    url = root.get(f"/repository/collection/{collection}/backup/latest", {"redirect": "false"}).json["url"]

    assert 200 == follow(anonymous, url).status_int

    (event,) = downloads()
    assert ("version.downloaded", collection, 1, "anonymous") == (
        event.kind,
        event.collection_id,
        event.version_number,
        event.actor,
    )
    assert "signature" not in str(event.data)


@ON
def test_answers_without_bytes_are_no_downloads(root, downloads):
    name = root.upload().json["filename"]
    etag = root.head(f"/repository/file/{name}").headers["ETag"]
    statuses = [
        root.download(name, headers={"If-None-Match": etag}).status_int,
        root.download(name, headers={"Range": "bytes=99-"}).status_int,
        root.download("none.txt").status_int,
    ]

    assert ([304, 416, 404], []) == (statuses, downloads())


@ON
def test_a_download_is_answered_if_its_event_cannot_be_written(root, services, downloads, monkeypatch):
    name = root.upload().json["filename"]

    def fail(*_, **__):
        raise RuntimeError

    monkeypatch.setattr(services.database, "write", fail)

    assert 200 == root.download(name).status_int
