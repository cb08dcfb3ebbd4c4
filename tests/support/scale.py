"""Sizes of the long tests: short by default, long with FREPO_TEST_BIG=1, as in `.ci/full`."""

import os

IS_BIG = os.environ.get("FREPO_TEST_BIG") == "1"
