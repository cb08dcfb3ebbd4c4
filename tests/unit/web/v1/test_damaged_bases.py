"""What is said about contents whose base is damaged, before the job `verify` has read them."""

from functools import partial

import pytest

from frepo_core.features.restore.restorables import Restorables
from frepo_core.services.content.objects.marks import mark_damaged
from support.encodings.nights import nights
from support.encodings.stored import StoredBlobs, sha256

CONTENTS = list(nights(3, 500))


@pytest.fixture
def blobs(services, push, collection):
    """Three versions: the first is the difference to the second, and that to the third."""
    for content in CONTENTS:
        push(collection, content)
    blobs = StoredBlobs(services)
    blobs.chain(CONTENTS)
    blobs.end_superseded()
    return blobs


@pytest.fixture
def damage(services, blobs):
    def damage(content):
        work = partial(mark_damaged, backends=services.backends, seen=blobs.row(content), problem="wrong", by=None)
        services.database.write(work)

    return damage


@pytest.fixture
def told(root):
    """Return what the overview, the list of damage, the health and the storages say: the number of contents."""

    def told():
        (problem,) = [check for check in root.get("/api/v1/health").json["checks"] if check["name"] == "blobs"]
        (storage,) = [one for one in root.get("/api/v1/storages").json["items"] if one["current"]]
        return (
            root.get("/api/v1/overview").json["damaged_blobs"],
            len(root.get("/api/v1/damage").json["items"]),
            storage["damaged"],
            problem["problems"][0].split()[0],
        )

    return told


def test_all_that_needs_a_damaged_base_is_counted_at_once(damage, told):
    damage(CONTENTS[2])

    assert (3, 3, 3, "3") == told()


def test_the_trash_plain_files_and_what_can_be_restored_show_it(services, damage, root, collection):
    """Their own bytes are sound. What is deleted and what is kept next to it show it in the same way."""
    versions = f"/api/v1/collections/{collection}"
    restorables = Restorables(services.database)
    file = root.call("POST", "/api/v1/files?name=night.sql", body=CONTENTS[0]).json["name"]
    root.call("DELETE", f"{versions}/versions/v1")

    def see():
        [entry] = services.trash.list(collection)
        shown = root.get(f"{versions}/trash").json["items"] + [root.get(f"{versions}/trash/1").json]
        files = [*root.get("/api/v1/files").json["items"], root.get(f"/api/v1/files/{file}").json]
        [source] = restorables.sources(collection)
        found = restorables.find(source, number=1)
        return [
            entry.is_damaged,
            *(one["damaged"] for one in (*shown, *files)),
            found.file.blob.is_damaged,
            not found.is_good,
        ]

    before = see()
    damage(CONTENTS[2])

    assert ({False}, {True}) == (set(before), set(see()))


def test_what_needs_nothing_damaged_is_not_counted(damage, told):
    damage(CONTENTS[0])

    assert (1, 1, 1, "1") == told()


def test_the_damaged_versions_of_a_collection_are_listed(damage, root, collection):
    damage(CONTENTS[1])
    items = root.get(f"/api/v1/collections/{collection}/versions", {"damaged": "true"}).json["items"]

    assert [(2, True), (1, True)] == [(one["number"], one["damaged"]) for one in items]


def test_the_list_names_the_base_that_is_to_be_healed(damage, root):
    damage(CONTENTS[1])

    above, base = sorted(root.get("/api/v1/damage").json["items"], key=lambda one: one["sha256"] == sha256(CONTENTS[1]))

    assert sha256(CONTENTS[0]) == above["sha256"]
    assert f"the content {sha256(CONTENTS[1])}, to which it is stored as a difference" in above["advice"]
    assert base["key"] in base["advice"]


def test_a_base_that_was_kept_decodes_them(services, push, collection, root, blobs):
    """The object before is superseded and sound: nothing above it is lost."""
    assert blobs.expand(CONTENTS[1])
    services.database.write(
        partial(mark_damaged, backends=services.backends, seen=blobs.row(CONTENTS[1]), problem="wrong", by=None)
    )

    assert 1 == root.get("/api/v1/overview").json["damaged_blobs"]
