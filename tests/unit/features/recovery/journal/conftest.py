"""The fixtures of the journal, and of a recovery from it."""

from support.fixtures.recovery import *  # noqa: F403
