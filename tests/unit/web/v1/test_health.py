"""Health and damage in /api/v1."""

from datetime import timedelta

import pytest
from sqlalchemy import select, update

from frepo_core.db import utc_now
from frepo_core.db.models import JobRun, JobState, StoredObject
from frepo_core.domain.roles import Role

HEALTH, DAMAGE = "/api/v1/health", "/api/v1/damage"


@pytest.fixture
def damage(services):
    """Mark blobs with these contents' sizes as damaged, each a minute after the one before."""

    def mark(*sizes):
        for number, size in enumerate(sizes):
            change = update(StoredObject).where(StoredObject.size == size)
            at = utc_now() + timedelta(minutes=number)
            services.database.write(
                lambda session, change=change, at=at: session.execute(change.values(state="damaged", since=at))
            )

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
        blob = session.scalar(select(StoredObject).where(StoredObject.size == 3))
    assert (blob.digest, blob.key, 3, 3) == (found["sha256"], found["key"], found["size"], found["used_by"])
    assert [(collection, 1), (collection, 3)] == [
        (version["collection_id"], version["number"]) for version in found["versions"]
    ]
    assert [stored] == found["files"]
    assert "Upload the same content again" in found["advice"]
    assert blob.key in found["advice"]


def test_damage_ends_with_an_upload_of_the_same_content_as_advised(root, collection, push, damage):
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


def test_damage_of_hidden_collections_and_files_is_not_listed(services, root, collection, push, damage, holder, upload):
    viewer = holder(Role.VIEW_JOBS, Role.VIEW_LISTING)
    shown = root.create().json["collection"]["id"]
    services.token_lists.allow(shown, services.tokens.key(viewer.token))
    for target, content in ((collection, b"12"), (collection, b"123"), (shown, b"123")):
        root.push(target, content)
    root.upload(b"1234", password="word-5ecre7", public="true")
    damage(2, 3, 4)

    (found,) = viewer.get(DAMAGE).json["items"]

    assert ([shown], []) == ([version["collection_id"] for version in found["versions"]], found["files"])
    assert 3 == len(root.get(DAMAGE).json["items"])


def test_the_errors_of_jobs_are_for_those_who_see_all_collections(services, root, holder):
    now = utc_now()
    state = JobState(name="verify", schedule="15 2 * * *", next_at=now + timedelta(days=1), failing_since=now)
    run = {"name": "verify", "lane": "long", "epoch": 1, "holder": "h", "cause": "schedule", "started_at": now}
    services.database.write(lambda session: session.add_all([state, JobRun(**run, ended_at=now, error="hidden-5")]))

    assert (True, False) == ("hidden-5" in root.get(HEALTH).text, "hidden-5" in holder(Role.VIEW_JOBS).get(HEALTH).text)
