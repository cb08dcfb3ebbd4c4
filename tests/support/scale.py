"""Sizes of the long tests: short by default, long with FREPO_TEST_BIG=1, as in `.ci/full`."""

import os

import pytest

IS_BIG = os.environ.get("FREPO_TEST_BIG") == "1"
only_in_long_form = pytest.mark.skipif(not IS_BIG, reason="only in the long form: FREPO_TEST_BIG=1")
