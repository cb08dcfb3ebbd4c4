"""The storage of a collection: its versions are stored there, by both APIs, also after the trash."""

from io import BytesIO

import pytest
from sqlalchemy import select

from frepo_core import assemble
from frepo_core.db.models import Event
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from support.client import with_settings

COLLECTIONS = "/api/v1/collections"
PATCH = {"Content-Type": "application/merge-patch+json"}


@pytest.fixture
def ini(ini, archive_settings):
    return ini | archive_settings | {"trash.keep": "7d"}


@pytest.fixture
def stored(tmp_path):
    """Return which contents a storage has, by its name."""
    folders = {"local": tmp_path / "storage", "archive": tmp_path / "archive"}
    return lambda name: sorted(path.read_bytes() for path in folders[name].rglob("*") if path.is_file())


@pytest.fixture
def create(root):
    return lambda **more: root.post(COLLECTIONS, {"name": "dump.sql", "guards": {"expects_kind": False}} | more)


@pytest.fixture
def edit(root):
    return lambda id_, body: root.call("PATCH", f"{COLLECTIONS}/{id_}", json=body, headers=PATCH)


def test_versions_are_stored_in_the_storage_of_their_collection(root, create, push, stored, upload):
    collection = create(storage="archive").json
    push(collection["id"], b"a version")
    upload(b"a file")

    assert ("archive", [b"a version"], [b"a file"]) == (collection["storage"], stored("archive"), stored("local"))
    assert b"a version" == root.get(f"{COLLECTIONS}/{collection['id']}/versions/latest/content").body


def test_a_content_is_stored_once_in_each_storage(create, push, stored, upload):
    here, there, twin = (create(storage=storage).json["id"] for storage in (None, "archive", "archive"))
    for collection in (here, there, twin):
        push(collection, b"a content")
    upload(b"a content")

    assert ([b"a content"], [b"a content"]) == (stored("local"), stored("archive"))


def test_an_edit_is_about_later_versions_and_null_is_the_first_storage(create, edit, push, stored, services):
    collection = create().json["id"]
    push(collection, b"one")
    assert "archive" == edit(collection, {"storage": "archive"}).json["storage"]
    push(collection, b"two")
    assert edit(collection, {"storage": None}).json["storage"] is None
    push(collection, b"three")

    assert ([b"one", b"three"], [b"two"]) == (stored("local"), stored("archive"))
    with services.database.reading() as session:
        edited = session.scalars(select(Event.data).where(Event.kind == "collection.edited")).all()
    assert {("archive", None), (None, "archive")} == {
        (each["before"].get("storage"), each["after"].get("storage")) for each in edited
    }


def test_a_storage_that_cannot_be_used_is_refused(create, edit):
    collection = create().json["id"]

    for name, said in [("ftp", "not one of the configured storages: local, archive"), ("nowhere", "not one of")]:
        for answer in (edit(collection, {"storage": name}), create(storage=name)):
            assert (400, True) == (answer.status_int, said in answer.text), name


def test_the_first_api_has_the_storage_too(root):
    made = root.create(storage="archive").json["collection"]
    assert "archive" == made["storage"]

    edited, refused = (
        root.put("/repository/collection", {"collection": made["id"], "storage": name}) for name in ("", "nowhere")
    )

    assert edited.json["collection"]["storage"] is None
    assert (400, True) == (refused.status_int, "form.storage" in refused.text)


def test_both_apis_have_the_mirror(root, create, edit):
    made = create(mirror="archive").json
    assert "archive" == made["mirror"]

    old = root.put("/repository/collection", {"collection": made["id"], "mirror": "none"})
    assert "none" == old.json["collection"]["mirror"]
    assert edit(made["id"], {"mirror": None}).json["mirror"] is None
    for refused in (
        edit(made["id"], {"mirror": "local"}),
        root.put("/repository/collection", {"collection": made["id"], "mirror": "nowhere"}),
    ):
        assert (400, True) == (refused.status_int, "mirror" in refused.text)


@pytest.mark.costly
def test_a_collection_is_moved_by_a_job_that_a_request_starts(root, create, push, services, stored):
    collection = create().json["id"]
    for content in (b"one", b"two"):
        push(collection, content)
    path = f"{COLLECTIONS}/{collection}/move"

    answer = root.post(path, {"storage": "archive"})

    assert (202, "archive", 2, 6) == (
        answer.status_int,
        *(answer.json[key] for key in ("storage", "left", "left_size")),
    )
    assert answer.json["requested_at"] is not None
    assert ["migrate"] == [job.scheduled.name for job in services.jobs.statuses() if job.request]
    services.jobs.run("migrate", cause="test")
    expected = {"storage": "archive", "requested_at": None, "left": 0, "left_size": 0}
    assert expected == root.get(path).json
    assert {b"one", b"two"} <= set(stored("archive"))
    with services.database.reading() as session:
        [data] = session.scalars(select(Event.data).where(Event.kind == "collection.moved"))
    assert {"storage": "archive", "contents": 2, "size": 6, "failed": 0} == data
    assert 202 == root.post(path, {"storage": None}).status_int
    assert root.get(f"{COLLECTIONS}/{collection}").json["storage"] is None


def test_a_restored_collection_has_its_storage_again(root, create, push, stored):
    collection = create(storage="archive").json["id"]
    push(collection, b"one")
    root.delete(f"{COLLECTIONS}/{collection}?versions=trash")
    [deleted] = root.get("/api/v1/deleted-collections").json["items"]

    restored = root.post(f"/api/v1/deleted-collections/{deleted['id']}/restore", {}).json
    push(collection, b"two")

    assert "archive" == restored["storage"]
    assert ([], [b"one", b"two"]) == (stored("local"), stored("archive"))


def test_an_upload_goes_to_the_storage_that_the_collection_has_at_its_end(create, edit, services, admin, stored):
    collection = create().json["id"]
    by = services.tokens.identify(admin, address="127.0.0.1", user_agent="")
    before = services.collections.get(collection)
    edit(collection, {"storage": "archive"})

    added = services.add_version.add(before, Incoming(stream=BytesIO(b"in flight")), by=by)

    assert ("archive", [], [b"in flight"]) == (added.version.file.blob.storage, stored("local"), stored("archive"))


def test_a_content_that_the_other_storage_has_is_not_stored_again_by_an_upload_in_flight(
    create, edit, push, services, admin, stored
):
    push(create(storage="archive").json["id"], b"known")
    collection = create().json["id"]
    before = services.collections.get(collection)
    edit(collection, {"storage": "archive"})
    by = services.tokens.identify(admin, address="127.0.0.1", user_agent="")

    services.add_version.add(before, Incoming(stream=BytesIO(b"known")), by=by)

    assert ([], [b"known"]) == (stored("local"), stored("archive"))


def test_a_file_with_known_content_gets_into_the_first_storage(ini, plugins, services, upload, stored, root):
    """After `fs.adapter` has changed, an upload of the same content finds the file, and stores its bytes again."""
    name = upload(b"a content").json["filename"]
    later = assemble(ini | {"fs.adapter": "archive"}, {}, plugins, services.database.engine)
    by = later.tokens.identify(root.token, address="127.0.0.1", user_agent="")
    added = later.files.add(NewFile(name="a.txt"), Incoming(stream=BytesIO(b"a content")), by=by)

    assert (True, name, "archive") == (added.existed, added.file.stored_name, added.file.blob.storage)
    assert 2 * ([b"a content"],) == (stored("local"), stored("archive")), "an operator migrates the former one"


@with_settings(backup__duplicate_versions="refuse")
def test_a_duplicate_is_refused_whatever_storage_it_is_in(create, edit, push, root):
    collection = create(storage="archive").json["id"]
    push(collection, b"one")
    edit(collection, {"storage": None})

    assert 400 == root.push(collection, b"one").status_int
