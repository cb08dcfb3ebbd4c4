"""Contents that are alike become differences to each other, by their sketches; others stay as they are."""

import itertools
from dataclasses import replace

import pytest

from frepo_core.features.compact import base_choice, planned_content
from frepo_core.features.compact.base_choice import find_unsketched, plan
from frepo_core.features.compact.likeness import BINS, EMPTY, estimate_shared, is_telling
from frepo_core.features.compact.planned_content import Content, Encoding, Freedom

MB = 1_000_000
fresh = itertools.count(1 << 20)


def sketch(family, changed=0):
    """The sketch of a content of a family, of whose minima the last ones are its own."""
    return tuple(range(family * BINS, (family + 1) * BINS - changed)) + tuple(itertools.islice(fresh, changed))


def content(number, minima, **more):
    more = {"size": MB, "encoding": Encoding.RAW, "freedom": Freedom.DELTA} | more
    return Content(id=number, sketch=minima, **more)


def newest(number, minima, **more):
    return content(number, minima, freedom=Freedom.RAW, **more)


def bases(contents, depth=4):
    return {step.content_id: step.base_id for step in plan(contents, depth=depth)}


def test_what_a_content_shares_follows_from_the_minima_and_the_sizes():
    whole, part = sketch(1), (*sketch(1)[:32], *[EMPTY] * 32)

    assert 1.0 == estimate_shared(whole, MB, whole, MB)
    assert 0.0 == estimate_shared(whole, MB, sketch(2), MB)
    assert (1.0, 0.5) == (estimate_shared(part, MB, whole, 2 * MB), estimate_shared(whole, 2 * MB, part, MB))


@pytest.mark.parametrize(("count", "expected"), [(0, False), (15, False), (16, True), (64, True)])
def test_a_sketch_with_few_minima_says_nothing(count, expected):
    assert expected is is_telling((*range(count), *[EMPTY] * (BINS - count)))


def test_two_databases_that_alternate_are_two_series():
    contents = [content(number, sketch(number % 2, 4)) for number in range(1, 9)]

    found = bases([*contents, newest(9, sketch(1, 4)), newest(10, sketch(0, 4))])

    assert all(number % 2 == base % 2 for number, base in found.items() if base is not None)
    assert 8 == sum(base is not None for base in found.values())


def test_a_content_that_is_like_none_is_passed_over():
    one, foreign, other = content(1, sketch(1, 4)), content(2, sketch(2)), newest(3, sketch(1, 4))

    assert {1: 3, 2: None} == bases([one, foreign, other])
    assert {1: 3} == bases([one, replace(foreign, tried=frozenset({None})), other])


def test_a_cut_content_is_no_base_of_the_one_before_it():
    before, after = content(1, sketch(1, 3)), newest(3, sketch(1, 3))
    cut = content(2, (*sketch(1)[:25], *[EMPTY] * 39), size=MB * 25 // 64)

    assert {1: 3, 2: 3} == bases([before, cut, after])
    assert {1: 2} == bases([before, replace(cut, freedom=Freedom.RAW)])


def test_a_series_that_drifts_keeps_its_order():
    def drifted(night):
        return tuple(number * 1000 + (night * 3 + number) // BINS for number in range(BINS))

    drifting = [*(content(night, drifted(night)) for night in range(1, 17)), newest(17, drifted(17))]

    assert bases(drifting) == bases([replace(one, sketch=()) for one in drifting])


def test_only_what_would_be_encoded_is_sketched_and_what_follows_one_that_is_unlike():
    one, cut, next_ = content(1, None), content(2, None), content(3, None)
    known = [replace(one, sketch=sketch(1)), replace(cut, sketch=sketch(1, 40)), next_, newest(4, None)]
    stored = replace(one, encoding=Encoding.DELTA, base_id=4)

    assert {1, 2} == find_unsketched([one, cut], plan([one, replace(cut, freedom=Freedom.RAW)], depth=4))
    assert {3, 4} <= find_unsketched(known, plan(known, depth=4))
    assert set() == find_unsketched([stored, newest(4, None)], plan([stored, newest(4, None)], depth=4))


def test_the_most_alike_is_found_with_few_comparisons(monkeypatch):
    compared, estimate = [], estimate_shared
    monkeypatch.setattr(planned_content, "estimate_shared", lambda *pair: compared.append(1) or estimate(*pair))
    contents = [content(number, sketch(number), tried=frozenset({None})) for number in range(2000)]
    crowd = [replace(one, sketch=(*one.sketch[:60], 1, 2, 3, 4)) for one in contents]

    assert [] == plan([*contents, newest(2000, sketch(2000))], depth=4)
    assert len(compared) < 10
    assert {} == bases(crowd)
    assert len(compared) < 2000 * base_choice.CANDIDATES
    assert {7: 2000} == bases([*contents, newest(2000, sketch(7, 9))])
