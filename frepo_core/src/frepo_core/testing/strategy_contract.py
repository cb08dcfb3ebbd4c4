"""What frepo expects of a collection strategy, as tests that the strategy's own tests inherit."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, overload

import pytest

from frepo_core.plugins import (
    CollectionFull,
    CollectionInfo,
    CollectionState,
    CollectionStrategy,
    Guards,
    IncomingVersion,
    VersionInfo,
)

MORNING = datetime(2024, 2, 27, 3, tzinfo=UTC)


class RecordedVersions(Sequence[VersionInfo]):
    """A sequence that records how many versions were read: `seen` is the highest position, counted from 1."""

    def __init__(self, versions: Sequence[VersionInfo]) -> None:
        self._versions = tuple(versions)
        self.seen = 0

    def __len__(self) -> int:
        return len(self._versions)

    @overload
    def __getitem__(self, index: int) -> VersionInfo: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[VersionInfo]: ...

    def __getitem__(self, index: int | slice) -> VersionInfo | Sequence[VersionInfo]:
        found = self._versions[index]
        positions = range(len(self._versions))[index]
        self.seen = max(self.seen, 1 + (positions if isinstance(positions, int) else max(positions, default=-1)))
        return found


def make_collection(
    sizes: Sequence[int],
    *,
    max_versions: int = 0,
    max_size: int = 0,
    first_number: int = 1,
    options: Any = None,
    collection: CollectionInfo | None = None,
    guards: Guards | None = None,
) -> CollectionState:
    """Make a collection of versions of these sizes in bytes, one a day, the last one a day before `incoming`.

    `options` is an instance of the strategy's model, None for a strategy without options. `collection` and `guards` are
    as in the `CollectionState`.
    """
    versions = [
        VersionInfo(
            id=f"version-{number}",
            number=number,
            size=size,
            created_at=MORNING - timedelta(days=len(sizes) + first_number - number),
        )
        for number, size in enumerate(sizes, first_number)
    ]
    return CollectionState(
        max_versions=max_versions,
        max_size=max_size,
        stored_size=sum(sizes),
        versions=RecordedVersions(versions),
        options=options,
        collection=collection or CollectionInfo(id="8b0a2c7e-54a1-4b1e-9f43-3f4f5c1d2e3a", name="dump.sql"),
        guards=guards or Guards(),
    )


FULL = {
    "by number": make_collection([10, 20, 30], max_versions=3),
    "by number, after the limit was lowered": make_collection([10, 20, 30, 40, 50], max_versions=2),
    "one version at most": make_collection([10], max_versions=1),
    "by size": make_collection([10, 20, 30], max_size=60),
    "by size, several must go": make_collection([1, 1, 1, 1, 96], max_size=100),
    "by both": make_collection([50, 30, 20], max_versions=3, max_size=100),
    "with gaps in the numbers": make_collection([10, 20, 30], max_versions=3, first_number=42),
}

ROOMY = {
    "empty": make_collection([], max_versions=3, max_size=100),
    "without limits": make_collection([10, 20, 30]),
    "with room for one more": make_collection([10, 20], max_versions=3, max_size=35),
}


def incoming(size: int = 5) -> IncomingVersion:
    """Make the incoming version."""
    return IncomingVersion(size=size, created_at=MORNING)


class StrategyContract:
    """Inherit from this class and override `strategy`.

    Override `options` if the strategy has options, `evicts` if a full collection refuses, and `acts_only_when_full` if
    the spec of the strategy says so.
    """

    @pytest.fixture
    def strategy(self) -> CollectionStrategy:
        """Build the strategy."""
        raise NotImplementedError("Override the fixture `strategy` of the strategy contract")

    @pytest.fixture
    def options(self) -> Any:
        """Return the options of the collections, an instance of the strategy's model; None if it has none.

        With `@pytest.fixture(params=[...])` the tests are run for several options.
        """
        return None

    @pytest.fixture
    def evicts(self) -> bool:
        """Return whether a full collection evicts versions; otherwise it refuses the new one.

        If this depends on the collection, the fixture can request `name`, a key of `FULL`.
        """
        return True

    @pytest.fixture
    def acts_only_when_full(self) -> bool:
        """Return whether the spec says so: the service does not call the strategy while there is room."""
        return False

    @pytest.mark.parametrize("name", FULL)
    def test_a_full_collection_makes_room_or_refuses(
        self, strategy: CollectionStrategy, options: Any, evicts: bool, name: str
    ) -> None:
        """The new version fits after the eviction, or the strategy raises `CollectionFull`, and no other exception."""
        collection = replace(FULL[name], options=options)
        try:
            evicted = strategy.make_room(collection, incoming())
            fits = collection.has_room(incoming(), without=evicted)
        except CollectionFull:
            fits = False

        assert evicts == fits

    def test_a_version_that_fits_is_taken(self, strategy: CollectionStrategy, options: Any) -> None:
        """A strategy may evict versions, but must not refuse a version that fits."""
        for name, collection in _collections(ROOMY, options):
            evicted = strategy.make_room(collection, incoming())

            assert collection.has_room(incoming(), without=evicted), name

    def test_with_room_it_does_nothing_if_it_says_so(
        self, strategy: CollectionStrategy, options: Any, acts_only_when_full: bool
    ) -> None:
        """A strategy that also thins a collection must not say that it acts only when it is full."""
        if acts_only_when_full:
            for name, collection in _collections(ROOMY, options):
                assert not strategy.make_room(collection, incoming()), name

    def test_only_versions_of_the_collection_are_chosen_and_each_once(
        self, strategy: CollectionStrategy, options: Any
    ) -> None:
        """The service deletes the versions that the strategy returns."""
        for name, collection in _collections(FULL | ROOMY, options):
            chosen = [version.id for version in _choose(strategy, collection, incoming())]

            assert sorted(set(chosen) & {version.id for version in collection.versions}) == sorted(chosen), name

    def test_the_same_question_has_the_same_answer(self, strategy: CollectionStrategy, options: Any) -> None:
        """The service calls the same strategy object again if the transaction is retried."""
        for name, collection in _collections(FULL, options):
            first = _choose(strategy, collection, incoming())

            assert first == _choose(strategy, collection, incoming()), name

    def test_rules_are_named_for_versions_of_the_collection(self, strategy: CollectionStrategy, options: Any) -> None:
        """`explain` may leave out versions, or all of them."""
        for name, collection in _collections(FULL | ROOMY, options):
            rules = strategy.explain(collection)

            assert {version.id for version in collection.versions} >= rules.keys(), name
            assert all(isinstance(rule, str) for names in rules.values() for rule in names), name

    def test_what_no_eviction_makes_fit_is_refused(self, strategy: CollectionStrategy, options: Any) -> None:
        """A version above the size limit of the collection evicts no other version."""
        with pytest.raises(CollectionFull):
            strategy.make_room(make_collection([10, 20], max_size=100, options=options), incoming(101))


def _collections(named: dict[str, CollectionState], options: Any) -> list[tuple[str, CollectionState]]:
    return [(name, replace(collection, options=options)) for name, collection in named.items()]


def _choose(
    strategy: CollectionStrategy, collection: CollectionState, version: IncomingVersion
) -> Sequence[VersionInfo]:
    try:
        return list(strategy.make_room(collection, version))
    except CollectionFull:
        return []
