"""Names that a plug-in gives a version, by which it finds it again."""

import io

import pytest

from .conftest import DUMP

SEGMENTS = [f"0000000100000000000000{number:02X}" for number in range(1, 6)]


@pytest.fixture
def add(service, uploader, collection):
    def add(number, **more):
        return service.add_version(collection, io.BytesIO(DUMP + bytes([number])), by=uploader, **more)

    return add


def test_a_version_is_found_by_its_label(service, collection, add):
    for number, segment in enumerate(SEGMENTS[:3]):
        add(number, labels={"segment": segment, "timeline": "1"}, note=f"segment {number}")

    [found] = service.versions(collection, label=("segment", SEGMENTS[1])).items

    assert (2, "segment 1", {"segment": SEGMENTS[1], "timeline": "1"}) == (found.number, found.note, found.labels)
    page = service.versions(collection, label=("timeline", "1"), limit=2)
    assert [3, 2] == [one.number for one in page.items]
    assert [1] == [one.number for one in service.versions(collection, label=("timeline", "1"), after=page.next).items]
    for label in (("segment", SEGMENTS[4]), ("segment", "1"), ("timeline", SEGMENTS[1])):
        assert () == tuple(service.versions(collection, label=label).items)


def test_people_find_them_over_http(running, collection, add):
    for number, segment in enumerate(SEGMENTS[:3]):
        add(number, labels={"segment": segment, "at": "10:15"})
    running.push(collection, DUMP)
    path = f"/api/v1/collections/{collection}/versions"

    found = [running.request("GET", f"{path}?label={label}") for label in (f"segment:{SEGMENTS[1]}", "at:10:15")]
    none, wrong = (running.request("GET", f"{path}?label={label}") for label in ("segment:x", "segment"))

    assert [[2], [3, 2]] == [[one["number"] for one in answer.json["items"]] for answer in found]
    assert {"segment": SEGMENTS[1], "at": "10:15"} == found[0].json["items"][0]["labels"]
    assert ([], 400) == (none.json["items"], wrong.status)
    assert {} == running.request("GET", f"{path}/latest").json["labels"]
    trashed = running.request("GET", f"/api/v1/collections/{collection}/trash").json["items"]
    assert [{"segment": SEGMENTS[0], "at": "10:15"}] == [one["labels"] for one in trashed]


def test_labels_go_with_the_version_into_the_trash_and_back(running, service, collection, add):
    for number, segment in enumerate(SEGMENTS[:4]):
        add(number, labels={"segment": segment})

    [trashed] = service.trash(collection).items
    assert ((1, {"segment": SEGMENTS[0]}), ()) == (
        (trashed.number, trashed.labels),
        tuple(service.versions(collection, label=("segment", SEGMENTS[0])).items),
    )
    running.request("DELETE", f"/api/v1/collections/{collection}/versions/v2")
    restored = running.request("POST", f"/api/v1/collections/{collection}/trash/1/restore")

    [found] = service.versions(collection, label=("segment", SEGMENTS[0])).items
    assert (201, 1, trashed.labels) == (restored.status, found.number, found.labels)


def test_labels_come_back_with_a_deleted_collection(running, service, collection, add):
    for number, segment in enumerate(SEGMENTS[:2]):
        add(number, labels={"segment": segment})
    running.request("DELETE", f"/api/v1/collections/{collection}?versions=trash")
    [deleted] = running.request("GET", "/api/v1/deleted-collections").json["items"]

    restored = running.request("POST", f"/api/v1/deleted-collections/{deleted['id']}/restore")

    [found] = service.versions(collection, label=("segment", SEGMENTS[1])).items
    assert (201, 2) == (restored.status, found.number)


def test_the_labels_are_those_of_the_first_time_for_a_key(service, add):
    first = add(1, labels={"segment": SEGMENTS[0]}, idempotency_key="one")

    assert first == add(1, labels={"segment": SEGMENTS[1]}, idempotency_key="one")
    assert first.labels == {"segment": SEGMENTS[0]}
    assert {first: 1}[first]


def test_two_collections_do_not_see_each_others_labels(running, service, collection, identify, add):
    by, other = identify(running.admin), running.make_collection()
    add(1, labels={"segment": SEGMENTS[0]})
    service.add_version(other, io.BytesIO(DUMP), by=by, labels={"segment": SEGMENTS[0]})

    for one in (collection, other):
        assert [one] == [found.collection_id for found in service.versions(one, label=("segment", SEGMENTS[0])).items]


def test_wrong_labels_are_refused(running, collection, add):
    for labels in (
        {"Segment": "1"},
        {"segment": ""},
        {"segment": "x" * 201},
        {"segment": "1\n"},
        {"segment": 1},
        {f"l{number}": "x" for number in range(21)},
    ):
        with pytest.raises((TypeError, ValueError)):
            add(1, labels=labels)
    with pytest.raises(ValueError, match="note"):
        add(1, note="x" * 1001)
    assert [] == running.versions(collection)
