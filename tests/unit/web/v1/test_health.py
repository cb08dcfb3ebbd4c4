"""Health and damage in /api/v1."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import Blob
from frepo_core.domain.roles import Role

HEALTH, DAMAGE = "/api/v1/health", "/api/v1/damage"


@pytest.fixture
def damage(services):
    """Mark blobs with these contents' sizes as damaged, each a minute after the one before."""

    def mark(*sizes):
        for number, size in enumerate(sizes):
            change = update(Blob).where(Blob.size == size)
            at = utc_now() + timedelta(minutes=number)
            services.database.write(lambda session, change=change, at=at: session.execute(change.values(damaged_at=at)))

    return mark


def test_all_checks_are_listed(root, damage, push, collection):
    good = root.get(HEALTH).json
    push(collection, b"x")
    damage(1)
    bad = root.get(HEALTH).json

    assert {"database", "storage", "blobs", "worker", "jobs"} <= {check["name"] for check in good["checks"]}
    assert (True, False) == (good["good"], bad["good"])
    (failed,) = [check for check in bad["checks"] if not check["good"]]
    assert ("blobs", True) == (failed["name"], "storage:verify" in failed["problems"][0])


def test_damage_names_the_versions_and_files_and_says_what_to_do(root, services, collection, push, upload, damage):
    for content in (b"bad", b"good!", b"bad"):
        push(collection, content)
    stored = upload(b"bad").json["filename"]
    damage(3)

    (found,) = root.get(DAMAGE).json["items"]

    with services.database.reading() as session:
        blob = session.scalar(select(Blob).where(Blob.size == 3))
    assert (blob.digest, blob.key, 3, 3) == (found["sha256"], found["key"], found["size"], found["used_by"])
    assert [(collection, 1), (collection, 3)] == [
        (version["collection_id"], version["number"]) for version in found["versions"]
    ]
    assert [stored] == found["files"]
    assert "Upload the same content again" in found["advice"]
    assert blob.key in found["advice"]


def test_an_upload_of_the_same_content_ends_the_damage_as_advised(root, collection, push, damage):
    push(collection, b"bad")
    damage(3)
    push(collection, b"bad")

    assert [] == root.get(DAMAGE).json["items"]


@pytest.mark.databases
def test_damage_is_listed_in_pages_the_latest_first(root, collection, push, damage):
    for size in range(1, 6):
        push(collection, b"x" * size)
    damage(*range(1, 6))
    found, cursor = [], ""
    while cursor is not None:
        page = root.get(DAMAGE, {"limit": 2, "cursor": cursor}).json
        found.append([item["size"] for item in page["items"]])
        cursor = page["next"]

    assert [[5, 4], [3, 2], [1]] == found


@pytest.mark.parametrize("path", [HEALTH, DAMAGE])
def test_the_role_is_needed(path, holder, anonymous):
    others = holder(*(set(Role) - {Role.ADMINISTRATOR, Role.VIEW_JOBS}))

    assert [200, 403, 401] == [one.get(path).status_int for one in (holder(Role.VIEW_JOBS), others, anonymous)]
