"""Which contents of a collection become differences, and to which newer ones: histories of nights."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frepo_core.features.compact.base_choice import plan
from frepo_core.features.compact.planned_content import Content, Encoding, Freedom, Standing, find_standing
from frepo_core.features.compact.uses import Use, find_freedom

START = datetime(2026, 1, 1, tzinfo=UTC)
TRASH = timedelta(days=3)
DEPTH = 4


def depth_of(contents, content):
    by_id, depth = {each.id: each for each in contents}, 0
    while content.base_id is not None:
        content, depth = by_id[content.base_id], depth + 1
    return depth


class Nights:
    """A collection to which a version is added each night. `last_night` says when a number leaves, or None."""

    def __init__(self, last_night, depth=DEPTH):
        self.last_night, self.depth = last_night, depth
        self.contents, self.night, self.steps = [], 0, 0

    def run(self, count=1, **changes):
        for _ in range(count):
            self.night += 1
            added = Content(id=self.night, encoding=Encoding.RAW, freedom=Freedom.RAW, ends_at=self.end_of(self.night))
            self.contents = [replace(each, freedom=Freedom.DELTA) for each in self.contents] + [
                replace(added, **changes)
            ]
            self.leave()
            self.compact()

    def end_of(self, number):
        last = self.last_night(number)
        return None if last is None else START + timedelta(days=last) + TRASH

    def leave(self):
        now = START + timedelta(days=self.night)
        gone = {each.id for each in self.contents if each.ends_at is not None and each.ends_at <= now}
        used = {each.base_id for each in self.contents if each.id not in gone}
        self.contents = [
            replace(each, is_alive=each.is_alive and (each.ends_at is None or each.ends_at - TRASH > now))
            for each in self.contents
            if each.id not in gone or each.id in used
        ]

    def compact(self):
        for step in plan(self.contents, depth=self.depth):
            self.steps += 1
            self.contents = [
                replace(each, encoding=step.encoding, base_id=step.base_id) if each.id == step.content_id else each
                for each in self.contents
            ]
            self.check()

    def check(self):
        """Check after each single step, because a run may end there."""
        ids = [each.id for each in self.contents]
        for each in self.contents:
            assert (each.base_id is not None) == (each.encoding is Encoding.DELTA)
            assert each.base_id is None or ids.index(each.base_id) > ids.index(each.id)
            assert depth_of(self.contents, each) <= self.depth

    def wholes(self):
        return [each.id for each in self.contents if each.encoding is not Encoding.DELTA]


def delete_oldest(count):
    return lambda number: number + count


def keep(number):
    """Seven days, four weeks, twelve months: the strategy keeps the first of each."""
    return number + (365 if number % 30 == 0 else 28 if number % 7 == 0 else 7)


def keep_hours(number):
    """As above for 24 uploads a day: of each day, one number that is always even stays."""
    return number + (24 * 30 if number % 24 == 0 else 24)


@pytest.mark.parametrize("newest", [Freedom.RAW, Freedom.ZSTD])
def test_of_a_hundred_nights_one_of_sixteen_is_whole(newest):
    nights = Nights(lambda number: None)

    nights.run(100, freedom=newest)

    assert nights.wholes() == [16, 32, 48, 64, 80, 96, 100]
    assert nights.steps < 100 * 4.5


@pytest.mark.parametrize("count", [2, 7, 14, 30])
def test_where_the_oldest_leaves_at_most_one_in_sixteen_is_whole_next_to_the_newest(count):
    nights, most = Nights(delete_oldest(count)), 0

    for _ in range(70):
        nights.run()
        most = max(
            most, len([one for one in nights.wholes() if next(c for c in nights.contents if c.id == one).is_alive])
        )

    assert most <= 1 + -(-count // 16)


@pytest.mark.parametrize("last_night", [keep, keep_hours])
def test_where_versions_in_the_middle_leave_nearly_all_are_differences(last_night):
    nights = Nights(last_night)

    nights.run(300)

    assert len(nights.wholes()) < len(nights.contents) * 0.3
    assert nights.steps < 300 * 4


@pytest.mark.costly
@given(st.lists(st.integers(0, 40) | st.none(), min_size=1, max_size=60), st.sampled_from([1, 2, 4, 8]))
def test_no_chain_is_too_long_and_no_base_older_whatever_leaves(lives, depth):
    nights = Nights(lambda n: None if lives[n % len(lives)] is None else n + 1 + lives[n % len(lives)], depth=depth)

    nights.run(40)

    nights.check()


def test_a_second_run_changes_nothing():
    nights = Nights(keep)
    nights.run(45)
    before = nights.steps

    nights.compact()

    assert before == nights.steps


def test_a_base_stays_as_long_as_what_depends_on_it():
    leaves_soon = Content(id=2, encoding=Encoding.RAW, freedom=Freedom.DELTA, ends_at=START)
    stays = Content(id=1, encoding=Encoding.RAW, freedom=Freedom.DELTA)
    newest = Content(id=3, encoding=Encoding.RAW, freedom=Freedom.RAW)

    steps = plan([stays, leaves_soon, newest], depth=DEPTH)

    assert [(1, 3), (2, 3)] == [(step.content_id, step.base_id) for step in steps]


def test_what_depends_on_a_content_that_has_left_gets_another_base():
    nights = Nights(lambda number: None)
    nights.run(6)
    nights.contents = [
        replace(one, is_alive=one.id != 4, ends_at=START if one.id == 4 else None) for one in nights.contents
    ]

    nights.compact()

    assert 4 not in {one.base_id for one in nights.contents if one.is_alive}


def test_what_is_to_be_raw_is_expanded_after_what_depends_on_it_was_left_in_place():
    nights = Nights(lambda number: None)
    nights.run(6)
    nights.contents = [replace(one, freedom=Freedom.RAW) if one.id == 4 else one for one in nights.contents]

    nights.compact()

    four = next(one for one in nights.contents if one.id == 4)
    assert Encoding.RAW is four.encoding
    assert {2, 3} <= {one.id for one in nights.contents if one.base_id == 4}


@pytest.mark.parametrize(("depth", "expected"), [(1, {1: True}), (2, {1: False})])
def test_a_base_lasts_if_it_gets_none_itself(depth, expected):
    old = Content(id=1, encoding=Encoding.RAW, freedom=Freedom.DELTA)
    newest = Content(id=2, encoding=Encoding.RAW, freedom=Freedom.RAW)

    assert expected == {step.content_id: step.is_base_lasting for step in plan([old, newest], depth=depth)}


def test_a_whole_content_that_becomes_a_difference_names_what_stays_on_it():
    older = Content(id=1, encoding=Encoding.DELTA, freedom=Freedom.DELTA, base_id=2)
    whole = Content(id=2, encoding=Encoding.ZSTD, freedom=Freedom.DELTA)
    newest = Content(id=3, encoding=Encoding.RAW, freedom=Freedom.RAW)

    (step,) = plan([older, whole, newest], depth=2)

    assert (2, 3, (1,)) == (step.content_id, step.base_id, step.dependents)


def test_a_damaged_content_is_left_and_becomes_no_base():
    damaged = Content(id=2, encoding=Encoding.RAW, freedom=Freedom.NONE)
    old = Content(id=1, encoding=Encoding.RAW, freedom=Freedom.DELTA)

    assert [(1, Encoding.ZSTD)] == [(step.content_id, step.encoding) for step in plan([old, damaged], depth=DEPTH)]


def test_a_content_of_several_collections_depends_on_one_that_is_newer_in_all():
    shared = Content(id=1, encoding=Encoding.RAW, freedom=Freedom.DELTA, possible=frozenset({3}))
    others = [Content(id=number, encoding=Encoding.RAW, freedom=Freedom.RAW) for number in (2, 3, 4)]

    assert [3] == [step.base_id for step in plan([shared, *others], depth=DEPTH)]


def in_quarantine(number, **more):
    return Content(id=number, encoding=Encoding.RAW, freedom=Freedom.DELTA, standing=Standing.BAD, **more)


def test_what_is_worse_is_no_base_of_what_is_better():
    good = Content(id=1, encoding=Encoding.RAW, freedom=Freedom.DELTA)
    newest = Content(id=4, encoding=Encoding.RAW, freedom=Freedom.RAW)

    steps = plan([good, in_quarantine(2), in_quarantine(3), newest], depth=DEPTH)

    assert {1: 4, 2: 3, 3: 4} == {step.content_id: step.base_id for step in steps}


def test_what_became_worse_is_replaced_as_a_base():
    good = Content(id=1, encoding=Encoding.DELTA, freedom=Freedom.DELTA, base_id=2)
    newest = Content(id=3, encoding=Encoding.RAW, freedom=Freedom.RAW)

    steps = plan([good, replace(in_quarantine(2, base_id=3), encoding=Encoding.DELTA), newest], depth=DEPTH)

    assert [(1, 3)] == [(step.content_id, step.base_id) for step in steps]


def test_what_is_always_suspicious_is_compacted_like_anything_else():
    nights, suspicious = Nights(lambda number: None), Nights(lambda number: None)
    nights.run(20)

    suspicious.run(20, standing=Standing.SUSPICIOUS)

    assert [one.base_id for one in nights.contents] == [one.base_id for one in suspicious.contents]


@pytest.mark.parametrize(
    ("verdict", "is_quarantined", "expected"),
    [
        ("restored", False, Standing.GOOD),
        ("unchecked", False, Standing.GOOD),
        ("pending", False, Standing.PENDING),
        ("suspicious", False, Standing.SUSPICIOUS),
        ("broken", False, Standing.BAD),
        ("complete", True, Standing.BAD),
    ],
)
def test_quarantine_is_as_bad_as_a_broken_version(verdict, is_quarantined, expected):
    assert expected is find_standing(verdict, is_quarantined=is_quarantined)


def test_a_base_that_saved_too_little_is_passed_over_and_its_neighbours_are_not():
    first = Content(id=1, encoding=Encoding.RAW, freedom=Freedom.DELTA, tried=frozenset({2}))
    foreign = Content(id=2, encoding=Encoding.RAW, freedom=Freedom.DELTA, tried=frozenset({None, 3}))
    newest = Content(id=3, encoding=Encoding.RAW, freedom=Freedom.RAW)

    assert [(1, 3)] == [(one.content_id, one.base_id) for one in plan([first, foreign, newest], depth=DEPTH)]


UNUSED = Use(
    has_plain_file=False,
    is_newest=False,
    is_newest_good=False,
    is_held=False,
    is_pending=False,
    is_damaged=False,
    used_at=START,
)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Freedom.DELTA),
        ({"has_plain_file": True}, Freedom.RAW),
        ({"is_newest": True}, Freedom.RAW),
        ({"is_newest_good": True}, Freedom.RAW),
        ({"is_held": True}, Freedom.RAW),
        ({"is_pending": True}, Freedom.RAW),
        ({"is_damaged": True, "is_newest": True}, Freedom.NONE),
        ({"used_at": START + timedelta(hours=1)}, Freedom.RAW),
    ],
)
def test_what_is_downloaded_held_or_new_stays_raw(changes, expected):
    use = replace(UNUSED, **changes)

    assert expected is find_freedom(use, Encoding.RAW, before=START, newest=Freedom.RAW)


@pytest.mark.parametrize(
    ("changes", "expected"), [({}, Freedom.ZSTD), ({"is_pending": True}, Freedom.RAW), ({"is_held": True}, Freedom.RAW)]
)
def test_the_newest_is_compressed_as_soon_as_its_checks_have_ended(changes, expected):
    use = replace(UNUSED, is_newest=True, used_at=START + timedelta(hours=1), **changes)

    assert expected is find_freedom(use, Encoding.RAW, before=START, newest=Freedom.ZSTD)


def test_a_content_that_is_encoded_already_does_not_get_raw_by_a_new_version():
    use = replace(UNUSED, used_at=START + timedelta(hours=1))

    assert Freedom.DELTA is find_freedom(use, Encoding.DELTA, before=START, newest=Freedom.RAW)
