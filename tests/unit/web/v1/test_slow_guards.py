"""Guards that look at many nights: sizes that decline slowly, and contents that do not change."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.db.models import Collection

V1 = "/api/v1/collections"
START = datetime(2026, 3, 1, 2, tzinfo=UTC)
UNCHANGED, DECLINE = "new_version_is_unchanged", "new_version_continues_a_decline"
RANDOM = random.Random(5)
SAME, OTHER = RANDOM.randbytes(2000), RANDOM.randbytes(2000)


@pytest.fixture
def night(monkeypatch):
    """Set the time of uploads to this night."""

    def night(number):
        moment = START + timedelta(days=number)
        for module in ("versions.version_upload", "rotation.admission"):
            monkeypatch.setattr(f"frepo_core.services.backups.{module}.utc_now", lambda: moment)

    return night


@pytest.fixture
def collection(root):
    return root.post(V1, {"name": "shop", "limits": {"versions": 5}, "guards": {"max_shrink_percent": 0}}).json["id"]


@pytest.fixture
def send(root, night):
    """Upload each content on a night of its own; return why each was put into quarantine, None if it was not."""
    nights = iter(range(1000))

    def send(collection, *contents):
        reasons = []
        for content in contents:
            night(next(nights))
            answer = root.call("PUT", f"{V1}/{collection}/versions", body=content)
            assert 201 == answer.status_int, answer.json
            reasons.append(answer.json["quarantine_reason"])
        return reasons

    return send


@pytest.fixture
def newest(root):
    """Return the newest version as /api/v1 shows it."""
    return lambda collection: root.get(f"{V1}/{collection}/versions?limit=1&sort=-number").json["items"][0]


@pytest.fixture
def release(root, collection):
    """Release a version from quarantine."""

    def release(version):
        path = f"{V1}/{collection}/versions/v{version['number']}"
        assert 200 == root.call("PATCH", path, json={"quarantined": False}).status_int

    return release


def test_the_same_content_for_a_week_is_suspicious_if_the_collection_says_so(root, collection, send):
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_unchanged": "P7D"}})

    assert [None] * 7 + [UNCHANGED] * 2 == send(collection, *[SAME] * 9)
    assert 8 == root.get(f"{V1}/{collection}").json["unchanged_nights"]
    assert [None] * 7 == send(collection, *[OTHER] * 7)


def test_a_week_without_a_change_begins_again_with_a_release(root, collection, send, newest, release):
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_unchanged": "P2D"}})
    assert [None, None, UNCHANGED] == send(collection, *[SAME] * 3)

    release(newest(collection))

    assert [None, UNCHANGED] == send(collection, *[SAME] * 2)


def test_an_unchanged_content_is_refused_if_the_collection_says_that(root, collection, send, night):
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_unchanged": "P2D", "on_suspicious": "refuse"}})
    assert [None, None] == send(collection, *[SAME] * 2)
    night(2)

    refused = root.call("PUT", f"{V1}/{collection}/versions", body=SAME)

    assert (422, 4024) == (refused.status_int, refused.json["code"])
    assert "2 days" in refused.json["detail"]


def test_a_guard_that_is_set_later_knows_how_long_nothing_has_changed(root, collection, send):
    assert [None] * 4 == send(collection, *[SAME] * 4)

    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_unchanged": "P4D"}})

    assert [UNCHANGED] == send(collection, SAME)


def test_dumps_that_shrink_a_little_each_night_are_a_trend(root, collection, send, newest):
    """Four percent a night: the guard about one night says nothing, the one over thirty nights does."""
    guards = {"max_shrink_percent": 50, "max_decline_percent": 20}
    root.call("PATCH", f"{V1}/{collection}", json={"guards": guards})
    contents = [RANDOM.randbytes(round(40_000 * 0.96**night)) for night in range(11)]

    assert [None] * 8 == send(collection, *contents[:8])
    assert [DECLINE] * 3 == send(collection, *contents[8:])
    version = newest(collection)
    assert ("suspicious", "decline") == (version["verdict"], version["reason"])
    assert "20 %" in version["verdict_reason"]


def test_a_decline_is_compared_anew_after_a_release(root, collection, send, newest, release):
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_decline_percent": 20}})
    contents = [RANDOM.randbytes(round(40_000 * 0.96**night)) for night in range(18)]
    assert [*[None] * 8, DECLINE] == send(collection, *contents[:9])

    release(newest(collection))

    assert [None] * 7 == send(collection, *contents[9:16])


def test_the_sizes_of_nights_are_kept_only_where_the_guard_is_set(root, collection, send, services):
    def nights():
        with services.database.reading() as session:
            return len(session.get(Collection, collection).baseline.get("nights", ()))

    send(collection, SAME, OTHER, SAME)
    assert 0 == nights()
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_decline_percent": 20}})
    send(collection, SAME, OTHER, SAME)
    assert 3 == nights()
    root.call("PATCH", f"{V1}/{collection}", json={"guards": {"max_decline_percent": 0}})
    send(collection, SAME)
    assert 0 == nights()
