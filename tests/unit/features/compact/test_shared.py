"""The newest contents of a group as the difference to one of them, which stays whole as long as these need it."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from frepo_core.features.compact.base_choice import plan
from frepo_core.features.compact.encoder.choice import Choice
from frepo_core.features.compact.encoder_process import EncoderProcess
from frepo_core.features.compact.planned_content import MOST_DEPENDENTS, Content, Encoding, Freedom

GROUP = {"compact_group": "hosts"}


class Fleet:
    """Hosts that send a version each night, all alike. Each may lose its oldest ones."""

    def __init__(self, hosts, depth):
        self.hosts, self.depth, self.contents, self.steps = range(hosts), depth, [], 0

    def push(self, host):
        owners = frozenset({str(host)})

        def older(one):
            is_his = one.owners == owners and one.is_newest
            return replace(one, freedom=Freedom.DELTA, is_newest=False) if is_his else one

        number = len(self.contents) and self.contents[-1].id + 1
        added = Content(id=number, encoding=Encoding.RAW, freedom=Freedom.SHARED, is_newest=True, owners=owners)
        self.contents = [*map(older, self.contents), added]

    def leave(self, number):
        """A version is deleted for good; what others need stays, as what nobody plans."""
        self.contents = [one for one in self.contents if one.id != number]

    def compact(self):
        for step in plan(self.contents, depth=self.depth):
            self.steps += 1
            change = {"encoding": step.encoding, "base_id": step.base_id}
            self.contents = [replace(one, **change) if one.id == step.content_id else one for one in self.contents]
            self.check()

    def check(self):
        """Check after each single step, because a run may end there."""
        by_id = {one.id: one for one in self.contents}
        for one in self.contents:
            depth, base = 0, one
            while base is not None and base.base_id is not None:
                base, depth = by_id.get(base.base_id), depth + 1
            assert depth <= self.depth
            if one.is_newest and one.base_id in by_id:
                assert depth == 1
                assert by_id[one.base_id].encoding is not Encoding.DELTA

    def wholes(self):
        return [one.id for one in self.contents if one.encoding is not Encoding.DELTA]


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_of_a_fleet_two_of_the_newest_are_whole_at_most(depth):
    fleet = Fleet(8, depth)
    for _ in range(10):
        for host in fleet.hosts:
            fleet.push(host)
            if not host % 3:
                fleet.compact()
        fleet.compact()

    newest = [one for one in fleet.contents if one.is_newest]
    assert 2 >= len([one for one in newest if one.encoding is not Encoding.DELTA])
    assert not plan(fleet.contents, depth=depth)
    assert len(fleet.wholes()) <= 80 / 2**depth + depth + 4


@pytest.mark.parametrize("seed", range(20))
def test_whatever_arrives_and_leaves_the_newest_is_one_step_from_what_is_whole(seed):
    draw = random.Random(seed)
    fleet = Fleet(draw.choice([2, 3, 9]), draw.choice([1, 2, 4]))
    for _ in range(60):
        fleet.push(draw.choice(fleet.hosts))
        while draw.random() < 0.4:
            fleet.compact()
        if draw.random() < 0.3:
            fleet.leave(draw.choice(fleet.contents).id)

    fleet.compact()
    fleet.compact()
    assert not plan(fleet.contents, depth=fleet.depth)


def test_a_base_of_newest_contents_has_at_most_32_dependents():
    fleet = Fleet(80, 4)
    for host in fleet.hosts:
        fleet.push(host)
    fleet.compact()

    bases = [one.base_id for one in fleet.contents if one.base_id is not None]
    assert MOST_DEPENDENTS == max(bases.count(base) for base in bases)
    assert 3 == len(fleet.wholes())


@pytest.fixture
def ini(ini):
    return ini | {"compact.newest": "shared"}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(EncoderProcess, "encode", lambda self, task, keep_going: Choice().choose(task, lambda: None))


def test_the_newest_of_a_group_are_stored_once_and_of_others_compressed(history):
    hosts, other = [history.make(**GROUP) for _ in range(3)], history.make()
    for night in range(3):
        for name in (*hosts, other):
            history.push(name, hours=1)
        history.time += timedelta(days=1)
        history.job()

        newest = [history.rows(name)[night + 1] for name in hosts]
        assert ["delta", "delta", "zstd"] == sorted(row.encoding for row in newest)
        assert "zstd" == history.encodings(other)[-1]
        wholes = {row.digest for name in hosts for row in history.rows(name).values() if row.encoding == "zstd"}
        assert {row.base_digest for row in newest if row.base_digest} <= wholes
        history.check()
