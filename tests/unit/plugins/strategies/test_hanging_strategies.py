"""Strategies that do not return: an upload gets its answer, the strategy is named, and no lock is held meanwhile."""

import threading

import pytest

from frepo_core.features.preview import preview
from support.wire import eventually

ORIGIN = "The strategy 'slow' (the plug-in 'acme' of the package acme-slow 1.2.3)"
FEW = 4
PATCH = {"Content-Type": "application/merge-patch+json"}
LATE, NOT_RUN = "did not return within 0.5 seconds", f"was not run, because {FEW} earlier runs of it have not returned"


@pytest.fixture(autouse=True)
def threads(services):
    """Those of the strategy, with a deadline that one that works keeps on a busy machine, too."""
    threads = services.strategies._threads["slow"]
    threads._deadline = 60
    return threads


@pytest.fixture
def collection(root):
    """A full collection with the versions 1 and 2."""
    made = root.create(strategy="slow", maxBackupsCount=2).json["collection"]["id"]
    for content in (b"one", b"two"):
        root.push(made, content)
    return made


@pytest.fixture
def hang(strategy, threads):
    """Let the strategy hang from now on, for which the deadline is short; return the function that ends both."""
    may_return = threading.Event()

    def let_go():
        strategy.before = lambda: None
        threads._deadline = 60
        may_return.set()

    def hang():
        strategy.before = lambda: may_return.wait(60)
        threads._deadline = 0.5
        return let_go

    yield hang
    may_return.set()


def told(answer):
    """Return the status of an answer, and what each API says."""
    return answer.status_int, answer.json.get("detail") or answer.json["status"]


def test_an_upload_to_a_collection_whose_strategy_hangs_is_answered_and_changes_nothing(root, collection, hang, caplog):
    hang()

    first = root.push(collection, b"three")
    second = root.post(f"/api/v1/collections/{collection}/versions", {})

    message = f"{ORIGIN} {LATE}. Fix the package and restart the service, or choose another strategy for the collection"
    assert [(503, message)] * 2 == [told(first), told(second)]
    assert "Retry-After" in first.headers
    assert ["1", "2"] == sorted(root.versions(collection))
    assert message in caplog.text


def test_a_strategy_that_hangs_is_not_called_any_more_until_a_call_returns(root, collection, strategy, hang):
    let_go = hang()
    before = strategy.calls

    answers = [root.push(collection, b"three") for _ in range(FEW + 2)]

    assert FEW == strategy.calls - before
    assert [LATE in told(answer)[1] for answer in answers] == [True] * FEW + [False] * 2
    assert all(NOT_RUN in told(answer)[1] for answer in answers[FEW:])
    let_go()
    assert 200 == eventually(200, lambda: root.push(collection, b"three").status_int)
    assert ["2", "3"] == sorted(root.versions(collection))


def test_other_collections_are_not_disturbed(root, collection, hang):
    hang()
    other = root.create(maxBackupsCount=2).json["collection"]["id"]
    for _ in range(FEW):
        root.push(collection, b"three")

    assert 200 == root.push(other, b"one").status_int


def test_a_release_and_a_preview_are_answered_and_an_edit_says_that_the_strategy_hangs(
    root, collection, hang, monkeypatch
):
    monkeypatch.setattr(preview, "SECONDS", 0.1)
    path = f"/api/v1/collections/{collection}"
    root.call("PATCH", path, json={"guards": {"min_version_size": 2, "on_suspicious": "quarantine"}}, headers=PATCH)
    root.push(collection, b"1")
    hang()

    released = root.call("PATCH", f"{path}/versions/v3", json={"quarantined": False}, headers=PATCH)
    previewed = root.post(f"{path}/retention/preview", {})
    edited = root.call("PATCH", path, json={"guards": {"min_retention": "PT1H"}}, headers=PATCH)

    assert (503, 503, 200) == (released.status_int, previewed.status_int, edited.status_int)
    assert LATE in edited.json["next_upload"]["refused"]
    assert root.get(f"{path}/versions/v3").json["quarantined"]
