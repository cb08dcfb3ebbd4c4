"""The fixtures of a recovery."""

from support.fixtures.recovery import *  # noqa: F403
