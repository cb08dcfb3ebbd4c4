"""Engines of restore tests are tested with the fixtures of the services and of the feature."""

from support.fixtures.restore_tests import *  # noqa: F403
from support.fixtures.services import *  # noqa: F403
