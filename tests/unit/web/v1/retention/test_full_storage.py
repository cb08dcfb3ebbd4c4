"""On a full storage, the trash gives way to uploads that are accepted, and to no other."""

import shutil

import pytest

from frepo_core.testing import MemoryStorage
from support.client import COLLECTIONS as OLD

COLLECTIONS = "/api/v1/collections"
REFUSING = {
    "min_retention": {"guards": {"min_retention": "P7D"}, "limits": {"versions": 1}},
    "strategy": {"strategy": "alert_when_backup_limit_reached", "limits": {"versions": 1}},
    "guard": {"guards": {"min_version_size": 2000, "on_suspicious": "refuse"}, "limits": {"versions": 3}},
}


@pytest.fixture
def make(root):
    def make(**values):
        answer = root.post(COLLECTIONS, {"name": "dump.sql.gz", **values})
        assert answer.status_int == 201, answer.text
        return answer.json["id"]

    return make


@pytest.fixture
def trash(root, make, services):
    """Return the numbers in the trash of a collection that has filled the storage but for 1 kB."""
    services.backends._built[services.backends.current] = MemoryStorage(6000)
    path = f"{COLLECTIONS}/{make(limits={'versions': 1})}"
    for letter in (b"b", b"c", b"d"):
        assert root.call("PUT", f"{path}/versions", body=letter * 1000).status_int == 201
    return lambda: [item["number"] for item in root.get(f"{path}/trash").json["items"]]


@pytest.fixture
def full_temporary_disk(monkeypatch):
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage._replace(free=0))


def send(root, way, collection, content):
    """Upload in a way that no rule refuses before the content has arrived."""
    key = {"Idempotency-Key": "night-1"}
    if way == "v1":
        return root.call("PUT", f"{COLLECTIONS}/{collection}/versions", body=content, headers=key)
    if way == "old":
        return root.push(collection, content, headers=key)
    return root.send_form(("file", "dump.sql.gz", content), path=f"{OLD}/{collection}/backup")


@pytest.mark.parametrize("way", ["v1", "old", "form"])
@pytest.mark.parametrize("refusing", REFUSING)
def test_an_upload_that_is_refused_ends_nothing_in_the_trash(root, make, trash, refusing, way):
    strict = make(**REFUSING[refusing])
    assert root.push(strict, b"a" * 2000).status_int == 200
    assert [2, 1] == trash()

    answer = send(root, way, strict, b"z" * 1900)

    assert answer.status_int in (400, 409, 422), answer.text
    assert [2, 1] == trash()


def test_an_upload_that_will_be_refused_ends_nothing_before_its_body_arrives(root, make, trash, full_temporary_disk):
    for way in ["v1", "old", "form"]:
        strict = make(**REFUSING["min_retention"])
        root.push(strict, b"a" * 2000)

        answer = send(root, way, strict, b"z" * 1900)

        assert answer.status_int in (400, 409, 422), answer.text
        assert [2, 1] == trash(), way


def test_the_trash_gives_way_to_an_upload_that_is_accepted(root, make, trash):
    for way in ["v1", "old", "form"]:
        accepting = make(limits={"versions": 2})
        root.push(accepting, b"a" * 2000)

        answer = send(root, way, accepting, b"z" * 1900)

        assert answer.status_int in (200, 201), answer.text
        assert [1] == trash(), way
