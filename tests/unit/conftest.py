"""Settings of the tests of single modules."""

import os
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def no_sync() -> Iterator[None]:
    """Skip fsync: that bytes survive a power cut is the affair of tests/live/disks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
