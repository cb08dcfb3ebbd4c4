"""What is known about a version when it arrives, and what follows from it at once."""

import pytest

VERDICTS = {
    "good": "whole",
    "complete": "complete",
    "broken": "(broken)",
    "odd": "(suspicious)",
    "pending": "pending",
}


@pytest.mark.databases
@pytest.mark.parametrize("word", VERDICTS)
def test_both_apis_answer_the_verdict(root, make, push, versions, word):
    collection = make()

    version = push(collection, word)

    assert {1: VERDICTS[word]} == versions(collection)
    assert VERDICTS[word].strip("()") == version["verdict"]
    expected = None if word == "complete" else f"it says {word}"
    assert expected == version["verdict_reason"]
    assert VERDICTS[word].startswith("(") == version["quarantined"]
    listed = root.get(f"/repository/collection/{collection}/version").json["versions"]["1"]["details"]
    assert version == listed


@pytest.mark.parametrize(("word", "state"), [("broken", "failed"), ("odd", "suspicious")])
def test_a_bad_night_evicts_nothing_until_a_good_one_ends_it(make, push, versions, named, shown, word, state):
    collection = make(1)
    push(collection, "complete", word, word)

    assert {1: "complete", 2: VERDICTS[word], 3: VERDICTS[word]} == versions(collection)
    assert [1, 1, 1] == [named(collection, name) for name in ("latest", "first", "good")]
    found = shown(collection)
    assert state == found["state"]
    assert f"it says {word}" in found["state_reason"]

    push(collection, "good")

    assert ("ok", "") == (shown(collection)["state"], shown(collection)["state_reason"])
    assert 4 == named(collection, "good")


def test_deleting_the_broken_version_ends_the_state(root, make, push, shown):
    collection = make()
    push(collection, "good", "broken")

    root.call("DELETE", f"/api/v1/collections/{collection}/versions/v2")

    assert "ok" == shown(collection)["state"]


class TestMark:
    """With `checks.on_broken = mark`, a broken version rotates; the newest good one stays nevertheless."""

    @pytest.fixture
    def ini(self, ini):
        return ini | {"checks.on_broken": "mark"}

    @pytest.mark.databases
    @pytest.mark.parametrize("limit", [1, 2, 3])
    def test_bad_nights_never_evict_the_newest_good_version(self, make, push, versions, named, limit):
        collection = make(limit)
        push(collection, "good", "good", *["broken"] * 10)

        kept = versions(collection)

        good = range(1 if limit > 1 else 2, 3)
        assert dict.fromkeys(good, "whole") | dict.fromkeys(range(12 + len(good) - limit, 13), "broken") == kept
        assert (12, 2) == (named(collection, "latest"), named(collection, "good"))

        push(collection, "good")
        assert limit == len(versions(collection))
        assert {13} | ({2} if limit > 1 else set()) <= versions(collection).keys()

    def test_it_stays_when_a_size_limit_bites_and_under_another_strategy(self, root, make, push, named):
        collection = make(0, maxCollectionSize="40b", maxOneVersionSize="20b")
        push(collection, "complete", *["broken"] * 8)

        assert 1 == named(collection, "good")


def test_a_deleted_collection_comes_back_as_it_was(root, make, push, versions, named, shown):
    collection = make(2)
    push(collection, "good", "good", "broken", "odd", "pending")
    before = versions(collection)
    root.call("DELETE", f"/api/v1/collections/{collection}?versions=trash")

    root.call("POST", f"/api/v1/deleted-collections/{collection}/restore")

    assert before == versions(collection)
    assert 1 == shown(collection)["pending_versions"]
    push(collection, "good")
    # What is in quarantine or pending has evicted nothing.
    assert {2: "whole", 3: "(broken)", 4: "(suspicious)", 5: "pending", 6: "whole"} == versions(collection)
