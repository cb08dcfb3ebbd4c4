"""Both strategies meet the strategy contract, for all collections that Hypothesis generates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.plugins import CollectionFull, IncomingVersion
from frepo_core.testing import StrategyContract, make_collection
from frepo_core.testing.strategy_contract import MORNING
from frepo_strategies import AlertWhenBackupLimitReached, DeleteOldestWhenAddingNew

SIZES = st.integers(0, 50)
LIMITS = st.one_of(st.just(0), st.integers(1, 300))

COLLECTIONS = st.builds(
    make_collection,
    st.lists(SIZES, max_size=12),
    max_versions=st.integers(0, 12),
    max_size=LIMITS,
    first_number=st.integers(1, 1000),
)
INCOMING = st.builds(IncomingVersion, size=st.one_of(SIZES, st.integers(0, 400)), created_at=st.just(MORNING))


class TestDeleteOldestWhenAddingNew(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return DeleteOldestWhenAddingNew()

    @pytest.fixture
    def acts_only_when_full(self):
        return True


class TestAlertWhenBackupLimitReached(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return AlertWhenBackupLimitReached()

    @pytest.fixture
    def acts_only_when_full(self):
        return True

    @pytest.fixture
    def evicts(self):
        return False


class KeepFirst(DeleteOldestWhenAddingNew):
    """The first version is kept: a collection of one refuses, all others evict the second version."""

    def make_room(self, collection, incoming):
        evicted = list(collection.versions[1:])
        if not collection.has_room(incoming, without=evicted):
            raise CollectionFull("Nothing but the first version is left")
        return [] if collection.has_room(incoming) else evicted


class TestKeepFirst(StrategyContract):
    @pytest.fixture
    def strategy(self):
        return KeepFirst()

    @pytest.fixture
    def evicts(self, name):
        return name != "one version at most"


def rotate(collection, incoming):
    """Return the evicted versions, or None if the strategy refuses."""
    try:
        return list(DeleteOldestWhenAddingNew().make_room(collection, incoming))
    except CollectionFull:
        return None


@given(COLLECTIONS, INCOMING)
def test_rotation_evicts_the_oldest(collection, incoming):
    evicted = rotate(collection, incoming) or []

    assert list(collection.versions[: len(evicted)]) == evicted


@given(COLLECTIONS, INCOMING)
def test_rotation_evicts_the_fewest_that_make_it_fit(collection, incoming):
    enough = [
        count
        for count in range(len(collection.versions) + 1)
        if collection.has_room(incoming, without=collection.versions[:count])
    ]

    evicted = rotate(collection, incoming)

    assert (enough[0] if enough else None) == (None if evicted is None else len(evicted))


@given(COLLECTIONS, INCOMING)
def test_rotation_refuses_only_what_the_empty_collection_would_not_take(collection, incoming):
    refused = rotate(collection, incoming) is None

    assert refused == (0 < collection.max_size < incoming.size)


@given(COLLECTIONS, INCOMING)
def test_rotation_reads_only_the_versions_that_it_evicts(collection, incoming):
    evicted = rotate(collection, incoming) or []

    assert collection.versions.seen <= len(evicted) + 1


@given(COLLECTIONS, INCOMING)
def test_alert_removes_nothing_and_refuses_what_does_not_fit(collection, incoming):
    try:
        answer = list(AlertWhenBackupLimitReached().make_room(collection, incoming))
    except CollectionFull:
        answer = None

    assert answer == ([] if collection.has_room(incoming) else None)
