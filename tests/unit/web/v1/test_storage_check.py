"""What each storage is worth, in /api/v1: the same as `frepo storage:check`."""

from datetime import timedelta

import pytest
from sqlalchemy import update

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.roles import Role

PATH = "/api/v1/storages/check"


@pytest.fixture
def ini(ini, tmp_path):
    more = {"storages": "second", "storage.second.adapter": "local", "mirror": "second", "mirror.rate": "0"}
    return ini | more | {"storage.second.directory": str(tmp_path / "second")}


def test_it_says_what_a_fire_would_cost_before_and_after_the_copies(root, services, collection, push, upload):
    push(collection, b"one")
    push(collection, b"three")
    upload(b"file")

    first, second = root.get(PATH).json["storages"]

    assert ("local", "ok", 3, 12, 3, 0) == tuple(
        first[name] for name in ("storage", "state", "promised", "size", "decodable", "lacking")
    )
    assert {"contents": 3, "size": 12, "versions": 2, "files": 1, "trash": 0} == first["only_here"]
    assert ("second", 3, 0, 3) == tuple(second[name] for name in ("storage", "promised", "decodable", "lacking"))

    services.jobs.run("mirror", cause="test")
    found = root.get(PATH).json

    assert [0, 0, 0] == [*(one["only_here"]["contents"] for one in found["storages"]), found["lost"]["contents"]]
    assert [0, 3] == [one["read"] for one in found["storages"]]


def test_what_was_read_counts_for_the_time_that_is_asked_for(root, services, collection, push):
    push(collection, b"one")
    services.jobs.run("mirror", cause="test")
    services.database.execute(update(StoredObject).values(read_at=utc_now() - timedelta(days=40)))

    assert [0, 0] == [one["read"] for one in root.get(PATH).json["storages"]]
    assert [1, 1] == [one["read"] for one in root.get(f"{PATH}?read_within=50d").json["storages"]]


def test_a_storage_that_is_gone_is_unavailable(root, services, collection, push, tmp_path):
    push(collection, b"one")
    services.jobs.run("mirror", cause="test")
    (tmp_path / "second").rename(tmp_path / "gone")

    first, second = root.get(PATH).json["storages"]

    assert ("ok", 1, "unavailable") == (first["state"], first["only_here"]["contents"], second["state"])


def test_it_needs_the_permission_of_the_health(holder):
    assert 403 == holder(Role.UPLOAD_ALL).get(PATH).status_int
    assert 200 == holder(Role.VIEW_JOBS).get(PATH).status_int
