"""Restore tests and the verdict: what the service's own say, and what clients say about theirs."""

import pytest

from frepo_core.features.restore_tests.feature import RestoreTestServices

V1 = "/api/v1/collections"


@pytest.fixture
def restore(services):
    """Restore-test the newest version of a collection; return the outcome."""
    return lambda collection, command: (
        services.feature(RestoreTestServices)
        .tests.run(services.collections.get(collection), command=command, by=None)
        .outcome
    )


@pytest.fixture
def post(root):
    """Post what a client has found about the first version."""
    return lambda collection, name, outcome: root.post(
        f"{V1}/{collection}/versions/v1/checks", {"name": name, "outcome": outcome}, expect_errors=True
    )


def test_a_version_that_was_loaded_is_restored(make, push, versions, restore, shown):
    collection = make()
    push(collection, "good")

    assert "good" == restore(collection, "cat")

    assert {1: "restored"} == versions(collection)
    assert "good" == shown(collection)["restore_outcome"]
    assert shown(collection)["restore_tested_at"] == shown(collection)["restore_tried_at"] is not None


def test_one_that_cannot_be_loaded_is_condemned_and_the_one_before_is_the_good_one(
    make, push, versions, named, restore, shown
):
    collection = make()
    push(collection, "good", "complete")

    assert "broken" == restore(collection, "sh -c 'cat; exit 1'")

    assert {1: "whole", 2: "broken"} == versions(collection)
    assert [1, 1] == [named(collection, name) for name in ("latest", "good")]
    assert ("failed", "broken", None) == tuple(
        shown(collection)[name] for name in ("state", "restore_outcome", "restore_tested_at")
    )


def test_missing_and_wrong_bytes_and_a_missing_program_change_no_verdict(
    services, make, push, versions, restore, shown
):
    collection = make()
    push(collection, "complete")
    path = services.backends.get("local").path(services.versions.find(collection, "v1").file.blob.key)

    assert "not checked" == restore(collection, "no-such-program")
    path.write_bytes(path.read_bytes()[::-1])
    assert "not checked" == restore(collection, "sh -c 'exit 1'")
    path.unlink()
    assert "not checked" == restore(collection, "cat")

    assert {1: "complete"} == versions(collection)
    assert ("ok", "not checked") == (shown(collection)["state"], shown(collection)["restore_outcome"])


def test_what_a_client_posts_under_the_name_of_a_restore_test_is_its_own_word(make, push, versions, post, shown):
    collection = make()
    push(collection, "complete")

    for outcome in ("good", "broken"):
        answer = post(collection, "restore", outcome)

        assert (201, "restore (client)") == (answer.status_int, answer.json["name"])
        assert {1: "complete"} == versions(collection)
    assert ("ok", None) == (shown(collection)["state"], shown(collection)["restore_outcome"])


def test_the_name_of_a_plug_ins_check_is_refused(make, push, versions, post):
    collection = make()
    push(collection, "complete")

    answer = post(collection, "look", "broken")

    assert (400, "name") == (answer.status_int, answer.json["errors"][0]["field"])
    assert "choose another name" in answer.json["detail"]
    assert {1: "complete"} == versions(collection)
