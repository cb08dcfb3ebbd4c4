"""How much the long tests do: a short form by default, the form of `.ci/full` with FREPO_TEST_BIG=1."""

import os

IS_BIG = os.environ.get("FREPO_TEST_BIG") == "1"
