"""An edit says which versions the next upload would evict; a change of the strategy loses nothing by itself."""

import pytest
from sqlalchemy import select

from frepo_core.db.models import Event

COLLECTIONS = "/api/v1/collections"
OLD = "/repository/collection"
PATCH = {"Content-Type": "application/merge-patch+json"}
ROTATION = "delete_oldest_when_adding_new"
NO_RULES = dict.fromkeys(("last", "hourly", "daily", "weekly", "monthly", "yearly"), 0)
LAST_TWO = {"strategy": "keep", "strategy_options": NO_RULES | {"last": 2}}


@pytest.fixture
def path(collection):
    return f"{COLLECTIONS}/{collection}"


@pytest.fixture
def push(root, path):
    """Add versions with different contents."""

    def push(count=1):
        for _ in range(count):
            number = root.get(path).json["versions"]
            answer = root.call("PUT", f"{path}/versions", body=b"content %d" % number)
        return answer

    return push


@pytest.fixture
def patch(root, path):
    return lambda **body: root.call("PATCH", path, json=body, headers=PATCH)


def numbers(root, path):
    return sorted(version["number"] for version in root.get(f"{path}/versions").json["items"])


@pytest.mark.parametrize(
    ("change", "evicted"),
    [
        ({"limits": {"versions": 3}}, [1, 2]),
        ({"limits": {"versions": 9}}, []),
        (LAST_TWO, [1, 2, 3]),
    ],
)
def test_a_patch_says_what_the_next_upload_evicts_and_the_upload_does_it(root, path, push, patch, change, evicted):
    push(4)
    answer = patch(**change)
    before = numbers(root, path)
    push()

    assert answer.json["next_upload"] == {"evicts": evicted, "refused": None}
    assert (before, numbers(root, path)) == ([1, 2, 3, 4], [number for number in range(1, 6) if number not in evicted])


def test_a_patch_says_that_the_next_upload_is_refused(push, patch):
    push(2)
    answer = patch(strategy="alert_when_backup_limit_reached", limits={"versions": 2})

    assert answer.json["next_upload"] == {
        "evicts": [],
        "refused": "The limit of versions is 2: delete one, or raise the limit, up to the setting backup.max_versions",
    }


def test_a_patch_of_other_values_says_nothing_about_uploads(push, patch):
    push(2)

    assert patch(description="nightly").json["next_upload"] is None


def test_an_edit_by_the_old_api_says_what_the_next_upload_evicts(root, collection, push):
    push(4)
    answer = root.put(OLD, {"collection": collection, "maxBackupsCount": 2})

    assert (answer.status_int, answer.json["next_upload"]) == (202, {"evicts": [1, 2, 3], "refused": None})


def test_the_event_of_an_edit_says_what_the_next_upload_evicts(services, push, patch):
    push(4)
    patch(limits={"versions": 2})

    with services.database.reading() as session:
        data = session.scalar(select(Event.data).where(Event.kind == "collection.edited"))
    assert data["next_upload"] == {"evicts": [1, 2, 3], "refused": None}


def test_a_young_version_is_not_announced_as_evicted(push, patch):
    push(3)
    answer = patch(**LAST_TWO, guards={"min_retention": "P1D"})

    assert answer.json["next_upload"] == {"evicts": [], "refused": None}


@pytest.mark.parametrize("is_old", [False, True])
def test_a_collection_changes_to_keep_and_back_without_losing_a_version(root, collection, path, push, patch, is_old):
    def change(strategy):
        if is_old:
            return root.put(OLD, {"collection": collection, "strategy": strategy})
        return patch(strategy=strategy)

    push(4)
    change("keep")
    kept = root.get(path).json
    change(ROTATION)
    back = root.get(path).json

    assert (kept["strategy"], kept["strategy_options"]["monthly"]) == ("keep", 12)
    assert (back["strategy"], back["strategy_options"]) == (ROTATION, None)
    assert numbers(root, path) == [1, 2, 3, 4]


class TestAStrategyWhosePackageIsGone:
    @pytest.fixture(autouse=True)
    def without_keep(self, services, push, patch, monkeypatch):
        push(2)
        patch(**LAST_TWO)
        monkeypatch.delitem(services.plugins.strategies, "keep")

    def test_an_upload_names_the_strategy_and_loses_nothing(self, root, path, push):
        assert (push().status_int, numbers(root, path)) == (503, [1, 2])

    def test_the_collection_is_readable_with_its_options(self, root, path):
        answer = root.get(path)

        assert (answer.status_int, answer.json["strategy_options"]["last"]) == (200, 2)
        assert root.get(f"{path}/versions/latest/content").status_int == 200

    def test_other_values_can_be_edited_and_the_answer_says_that_uploads_fail(self, patch):
        answer = patch(description="nightly", limits={"versions": 9})

        assert answer.status_int == 200
        assert "no installed package provides it" in answer.json["next_upload"]["refused"]

    def test_another_strategy_can_be_set(self, root, path, push, patch):
        answer = patch(strategy=ROTATION, limits={"versions": 2})
        push()

        assert (answer.status_int, numbers(root, path)) == (200, [2, 3])

    def test_the_old_api_can_set_another_strategy(self, root, collection, path, push):
        answer = root.put(OLD, {"collection": collection, "strategy": ROTATION})
        push()

        assert (answer.status_int, numbers(root, path)) == (202, [1, 2, 3])

    def test_the_missing_strategy_cannot_be_set_again(self, patch):
        assert patch(strategy="keep").status_int == 400
