"""Collections of one group: versions become differences to those of others, by consent, and what protects them."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select, update

from frepo_core.db.models import Content, StoredObject, Version
from frepo_core.db.types import simulated_time
from frepo_core.errors import CompactLateError, FrepoError
from frepo_core.features.compact import plans
from frepo_core.features.compact.base_choice import plan
from frepo_core.features.compact.encoder.choice import Choice
from frepo_core.features.compact.encoder_process import EncoderProcess
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.compact.planned_content import MOST_DEPENDENTS, Encoding, Freedom
from frepo_core.features.compact.planned_content import Content as Planned
from frepo_core.features.preview.preview import Previews
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.backups.trash.ending_order import may_end as may_be_ended

GROUP = {"compact_group": "hosts"}


@pytest.fixture
def ini(ini, tmp_path):
    second = {"storage.second.adapter": "local", "storage.second.directory": str(tmp_path / "second")}
    return ini | second | {"storages": "second", "compact.newest": "zstd", "compact.debt": "100"}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Encode in this process, which is faster."""
    monkeypatch.setattr(EncoderProcess, "encode", lambda self, task, keep_going: Choice().choose(task, lambda: None))


@pytest.fixture
def edit(history):
    return lambda name, **more: history.services.collections.edit(
        name, CollectionChange(limits={}, **more), by=history.by
    )


def bases_of(history, collection):
    """The digests of the bases of a collection's versions, by number."""
    return {number: row.base_digest for number, row in history.rows(collection).items() if row.base_digest}


def digests(history, collection):
    return {row.digest for row in history.rows(collection).values()}


def foreign_bases(history, collection):
    return set(bases_of(history, collection).values()) - digests(history, collection)


def nights(history, *collections, count=3):
    for _ in range(count):
        for name in collections:
            history.push(name, hours=1)
        history.time += timedelta(days=1)
        history.job()


def test_versions_of_a_group_become_differences_to_those_of_others(history):
    one, two = history.make(**GROUP), history.make(**GROUP)

    nights(history, one, two)

    assert foreign_bases(history, one) | foreign_bases(history, two)
    wholes = [each for name in (one, two) for each in history.encodings(name) if each != "delta"]
    assert 2 == len(wholes)
    history.check()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        (GROUP, {}),
        (GROUP, {"compact_group": "others"}),
        (GROUP, GROUP | {"storage": "second"}),
        (GROUP, GROUP | {"mirror": "second"}),
    ],
)
def test_nothing_is_shared_without_consent_or_between_places(history, first, second):
    one, two = history.make(**first), history.make(**second)

    nights(history, one, two)

    assert not foreign_bases(history, one) | foreign_bases(history, two)
    assert history.deltas(one)


def test_what_leaves_a_group_gets_bases_of_its_own(history, edit):
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=4)

    edit(one, compact_group="")
    history.job(hours=9)
    history.job(hours=10)

    assert not foreign_bases(history, one) | foreign_bases(history, two)
    history.check()


def test_a_deleted_collection_is_the_base_of_none_after_the_next_run(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=4)
    mine = digests(history, two)

    with simulated_time(history.time):
        history.services.collections.delete(two, by=history.by, with_versions=True)
    assert foreign_bases(history, one) & mine  # they stay until others have another base
    history.check()
    history.job(hours=9)

    assert not foreign_bases(history, one)
    history.check()
    history.job("trash", days=4)
    history.job(days=5)
    history.contents.pop(two)
    history.check()
    with history.services.database.reading() as session:
        assert not session.scalar(select(func.count()).select_from(Content).where(Content.digest.in_(mine)))


def test_what_is_in_the_trash_is_the_base_of_no_other_collection(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=4)
    used = foreign_bases(history, one) | foreign_bases(history, two)
    for name in (one, two):
        history.delete(name, *(f"v{number}" for number, row in history.rows(name).items() if row.digest in used))

    history.job(hours=9)

    assert not (foreign_bases(history, one) | foreign_bases(history, two)) & used
    history.check()


def test_a_base_of_others_in_the_trash_gives_room_after_the_next_runs(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=4)
    used = foreign_bases(history, one) | foreign_bases(history, two)
    rows = [(name, number, row) for name in (one, two) for number, row in history.rows(name).items()]
    name, number, base = next(one for one in rows if one[2].digest in used - set(bases_of(history, one[0]).values()))
    history.delete(name, f"v{number}")

    def may_end():
        with history.services.database.reading() as session:
            return bool(session.scalar(select(Content.id).where(Content.id == base.content_id, may_be_ended(session))))

    assert not may_end()
    for hours in (9, 10):  # a difference may have to wait for the shorter chain of another one
        history.job(hours=hours)
    assert may_end()


def test_a_base_of_others_has_the_second_copy_that_they_want(history):
    one, two = (history.make(**GROUP, mirror="second") for _ in range(2))
    nights(history, one, two)
    assert not foreign_bases(history, one) | foreign_bases(history, two)

    history.job("mirror", hours=9)
    nights(history, one, two, count=1)
    history.job("mirror", hours=9)

    bases = foreign_bases(history, one) | foreign_bases(history, two)
    assert bases
    with history.services.database.reading() as session:
        copied = (StoredObject.storage == "second", StoredObject.state == "present", StoredObject.digest.in_(bases))
        assert bases == set(session.scalars(select(StoredObject.digest).where(*copied)))
    for name in (one, two):
        for number, row in history.rows(name).items():
            assert history.contents[name][number] == history.read(row)


def test_a_worse_version_of_another_collection_is_no_base(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    contents = [history.dump() for _ in range(3)]
    history.push(one, contents[0])
    bad = history.push(two, contents[1])
    history.push(one, contents[2])
    digest = history.rows(two)[bad].digest
    history.services.database.execute(update(Version).where(Version.collection_id == two).values(verdict="broken"))
    history.time += timedelta(days=2)
    history.job()

    assert digest not in bases_of(history, one).values()
    assert history.deltas(one)


def test_the_space_of_a_collection_shows_bases_of_others_as_raw(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=4)
    spaces = history.services.feature(CompactServices).spaces

    for name in (one, two):
        rows, own = history.rows(name).values(), digests(history, name)
        shown = [row.size if row.base_digest and row.base_digest not in own else row.object_size for row in rows]
        assert sum(shown) == spaces.read_collection(name).stored == spaces.read_stored([name])[name]
    assert foreign_bases(history, one) | foreign_bases(history, two)


def test_a_base_has_at_most_32_dependents():
    older = [Planned(id=number, encoding=Encoding.RAW, freedom=Freedom.DELTA) for number in range(40)]
    newest = Planned(id=40, encoding=Encoding.RAW, freedom=Freedom.RAW, dependents=30)
    for depth in (1, 8):
        steps = plan([*older, newest], depth=depth)

        assert 2 >= sum(step.base_id == newest.id for step in steps)
    assert 32 == MOST_DEPENDENTS


def test_a_strategy_that_fails_stops_no_other_collection_of_its_group(history, monkeypatch):
    one, two = history.make(**GROUP), history.make(**GROUP)
    usual = Previews.preview

    def preview(self, name, *more):
        if name == one:
            raise FrepoError("this strategy fails")
        return usual(self, name, *more)

    monkeypatch.setattr(Previews, "preview", preview)
    nights(history, one, two)

    assert history.deltas(two)
    assert not history.deltas(one)
    history.check()


def test_the_health_says_if_a_content_of_a_deleted_collection_stays_a_base(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    nights(history, one, two, count=4)
    spaces = history.services.feature(CompactServices).spaces
    with simulated_time(history.time):
        history.services.collections.delete(two, by=history.by, with_versions=True)

    with simulated_time(history.time + timedelta(days=6)):
        spaces.check()
    with simulated_time(history.time + timedelta(days=8)), pytest.raises(CompactLateError, match="7 days ago"):
        spaces.check()


def test_the_health_says_if_a_content_that_left_stays_a_base(history, monkeypatch):
    name = history.make(count=20)
    nights(history, name, count=10)
    used = set(bases_of(history, name).values())
    left = [f"v{number}" for number, row in history.rows(name).items() if row.digest in used and number < 9]
    assert left
    history.delete(name, *left)
    history.job("trash", days=3)
    monkeypatch.setattr(plans, "plan", lambda contents, depth: [])
    history.job(days=3)
    spaces = history.services.feature(CompactServices).spaces

    with simulated_time(history.time + timedelta(days=9)):
        spaces.check()
    with simulated_time(history.time + timedelta(days=11)), pytest.raises(CompactLateError, match="7 days ago"):
        spaces.check()
    monkeypatch.undo()
    history.job(days=11, hours=8)
    with simulated_time(history.time + timedelta(days=12)):
        spaces.check()


def test_what_two_collections_have_in_the_trash_is_planned_by_one_of_them(history):
    one, two = history.make(), history.make()
    shared, *contents = (history.dump() for _ in range(5))
    for content in (shared, *contents[:2]):
        history.push(one, content, hours=5)
    for content in (shared, *contents[2:]):
        history.push(two, content, hours=5)
    history.time += timedelta(days=2)
    for name in (one, two):
        history.delete(name, "v1")
    history.job()

    again = [history.job(hours=hours) for hours in (9, 10, 11)]

    assert [(0, 0, 0)] * 3 == [(run["encoded"], run["expanded"], run["left"]) for run in again]
    history.check()
