"""The fixtures of the services."""

from support.fixtures.services import *  # noqa: F403
