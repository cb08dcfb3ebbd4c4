"""Features are tested with the fixtures of the services and of the upkeep."""

from support.fixtures.services import *  # noqa: F403
from support.fixtures.upkeep import *  # noqa: F403
