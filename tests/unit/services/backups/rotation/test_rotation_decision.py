"""The decision about an incoming version, without a database: pinned versions, objections, limits."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.domain.backups.guards import Objection, find_strictest
from frepo_core.domain.limits import Limits
from frepo_core.errors import (
    CollectionFullError,
    ConfigurationError,
    RuleError,
    TooManyVersionsError,
    UploadCheckError,
    VersionShrankError,
    VersionTooBigError,
    VersionTooYoungError,
)
from frepo_core.plugins import IncomingVersion, VersionInfo
from frepo_core.services.backups.rotation.decision import Decision, MergedVersions, RotationState, decide

NOW = datetime(2026, 11, 22, 2, tzinfo=UTC)
SHRANK = VersionShrankError()


def versions(*sizes, protected=()):
    return [
        VersionInfo(
            id=f"id-{number}",
            number=number,
            size=size,
            created_at=NOW - timedelta(days=10 - number),
            protected=number in protected,
        )
        for number, size in enumerate(sizes, 1)
    ]


@pytest.fixture
def outcome(plugins):
    """Return the numbers of the evicted versions, "quarantine", or the class of the refusal."""

    def outcome(
        found, size=1, *, count=0, one=0, total=0, action=None, strategy="delete_oldest_when_adding_new", **more
    ):
        stored = sum(version.size for version in found)
        limits = Limits(versions=count, version_size=one, total_size=total)
        state = RotationState(limits=limits, strategy=strategy, versions=found, stored_size=stored, **more)
        objection = Objection(error=SHRANK, action=action) if action else None
        try:
            decision = decide(plugins, state, IncomingVersion(size=size, created_at=NOW), objection=objection)
        except RuleError as error:
            return type(error)
        if decision.is_quarantined:
            assert decision == Decision(is_quarantined=True)
            return "quarantine"
        return [version.number for version in decision.evicted]

    return outcome


@pytest.mark.parametrize(
    ("sizes", "size", "state", "expected"),
    [
        # The limits of a strategy are reduced by the pinned versions.
        ((1, 1), 1, {"count": 3}, []),
        ((1, 1), 1, {"count": 3, "pinned_count": 1, "pinned_size": 1}, [1]),
        ((1, 1), 1, {"count": 3, "pinned_count": 2, "pinned_size": 2}, [1, 2]),
        ((2, 2), 3, {"total": 10, "pinned_count": 1, "pinned_size": 3}, []),
        ((2, 2), 3, {"total": 10, "pinned_count": 1, "pinned_size": 4}, [1]),
        ((2, 2), 3, {"total": 10, "pinned_count": 1, "pinned_size": 6}, [1, 2]),
        ((2, 2), 3, {"pinned_count": 5, "pinned_size": 6}, []),
        # They leave no room.
        ((), 1, {"count": 2, "pinned_count": 2, "pinned_size": 2}, TooManyVersionsError),
        ((), 1, {"count": 1, "pinned_count": 2, "pinned_size": 2}, TooManyVersionsError),
        ((2, 2), 5, {"total": 10, "pinned_count": 1, "pinned_size": 6}, CollectionFullError),
        ((), 0, {"total": 10, "pinned_count": 1, "pinned_size": 10}, CollectionFullError),
    ],
)
def test_pinned_versions_reduce_the_limits_that_a_strategy_sees(outcome, sizes, size, state, expected):
    assert expected == outcome(versions(*sizes), size, **state)


def test_a_collection_that_is_full_with_pinned_versions_says_how_many_fit(outcome):
    strategy = "alert_when_backup_limit_reached"

    assert TooManyVersionsError is outcome(versions(1), count=2, pinned_count=1, pinned_size=1, strategy=strategy)


def test_the_action_of_an_objection_decides(outcome):
    for action, full, with_room in [
        (None, [1], []),
        ("mark", VersionShrankError, []),
        ("quarantine", "quarantine", "quarantine"),
        ("refuse", VersionShrankError, VersionShrankError),
    ]:
        assert full == outcome(versions(1, 1), count=2, action=action)
        assert with_room == outcome(versions(1, 1), count=3, action=action)


def test_quarantine_needs_no_room_but_keeps_the_limits_for_one_version(outcome):
    full = {"count": 2, "pinned_count": 2, "pinned_size": 2, "total": 4, "one": 3}

    assert "quarantine" == outcome([], 3, action="quarantine", **full)
    assert "quarantine" == outcome(versions(1, protected={1}), count=1, action="quarantine")
    assert VersionTooBigError is outcome([], 4, action="quarantine", **full)
    assert CollectionFullError is outcome([], 5, action="quarantine", **(full | {"one": 0}))


def test_a_protected_version_is_evicted_for_nothing(outcome):
    assert VersionTooYoungError is outcome(versions(1, 1, protected={1, 2}), count=2)
    assert VersionTooYoungError is outcome(versions(1, protected={1}), count=2, pinned_count=1, pinned_size=1)


def test_the_strictest_objection_decides():
    kept = Objection(error=SHRANK, action="mark")
    found = Objection(error=UploadCheckError(), action="quarantine", check="archive")
    refused = Objection(error=SHRANK, action="refuse")

    assert find_strictest([]) is None
    assert kept is find_strictest([kept])
    assert found is find_strictest([kept, found])
    assert refused is find_strictest([refused, found, kept])
    assert ("new_version_shrank_too_much", "check archive") == (kept.reason, found.reason)


class TestStrategiesThatActOnlyWhenFull:
    """Such a strategy is asked only if the incoming version has no room."""

    @pytest.fixture
    def asked(self, plugins):
        def asked(state, size=1):
            calls = []
            incoming = IncomingVersion(size=size, created_at=NOW)
            decide(plugins, state, incoming, ask=lambda: calls.append("asked") or state.versions[:1])
            return bool(calls)

        return asked

    @pytest.mark.parametrize(
        ("limits", "more", "expected"),
        [
            ({"versions": 3}, {}, False),
            ({"versions": 2}, {}, True),
            ({"total_size": 5}, {}, False),
            ({"total_size": 4}, {}, True),
            ({"versions": 3}, {"pinned_count": 1, "pinned_size": 1}, True),
            ({"versions": 3}, {"acts_only_when_full": False}, True),
            # What was overtaken leaves when the strategy would evict it.
            ({"versions": 3}, {"overtaken": versions(1)}, False),
            ({"total_size": 6}, {"overtaken": versions(2)}, True),
        ],
    )
    def test_the_room_decides(self, asked, limits, more, expected):
        found = versions(2, 2)
        limits = Limits(**({"versions": 0, "version_size": 0, "total_size": 0} | limits))
        state = {"limits": limits, "strategy": "delete_oldest_when_adding_new", "acts_only_when_full": True} | more

        assert expected is asked(RotationState(versions=found, stored_size=4, **state))

    def test_one_that_is_not_installed_is_named_although_there_is_room(self, outcome):
        with pytest.raises(ConfigurationError, match="'gone'"):
            outcome(versions(1), count=3, strategy="gone")


def test_merged_versions_are_loaded_when_they_are_accessed():
    loaded = []

    class Lazy(Sequence):
        def __len__(self):
            return 1000

        def __getitem__(self, index):
            if index >= 1000:
                raise IndexError(index)
            loaded.append(index)
            return VersionInfo(id=f"id-{index}", number=2 * index, size=1, created_at=NOW)

    odd = [VersionInfo(id="odd", number=3, size=1, created_at=NOW)]
    merged = MergedVersions(Lazy(), odd)

    assert [0, 2, 3] == [version.number for version in merged[:3]]
    assert len(loaded) < 5
    assert 1001 == len(merged)
    assert 1998 == merged[-1].number
