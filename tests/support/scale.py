"""How much is tested: a short form by default, all tests with FREPO_TEST_ALL=1, a long form with FREPO_TEST_BIG=1."""

import os
from collections.abc import Sequence
from typing import TypeVar

import pytest

IS_BIG = os.environ.get("FREPO_TEST_BIG") == "1"
IS_ALL = IS_BIG or os.environ.get("FREPO_TEST_ALL") == "1"
# The proof that the mission needs no feature: .ci/full runs tests over services that are built without any.
HAS_FEATURES = os.environ.get("FREPO_TEST_WITHOUT_FEATURES") != "1"
_T = TypeVar("_T")


def first_of(values: Sequence[_T]) -> Sequence[_T]:
    """Return all values in the long form, otherwise only the first."""
    return values if IS_BIG else values[:1]


only_in_long_form = pytest.mark.skipif(not IS_BIG, reason="only in the long form: FREPO_TEST_BIG=1")
