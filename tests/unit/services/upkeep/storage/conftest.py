"""The fixtures of work on storages."""

from support.fixtures.storages import *  # noqa: F403
