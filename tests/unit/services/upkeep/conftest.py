"""The fixtures of the upkeep."""

from support.fixtures.upkeep import *  # noqa: F403
