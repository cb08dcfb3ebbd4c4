"""Fixtures: the checks of frepo-integrity over bytes."""

import io

import pytest

from frepo_core.plugins.registry import PluginRegistry
from frepo_integrity.budget import Budget
from frepo_integrity.inspection import MEMORY, Inspection, inspect
from frepo_integrity.outcomes import BrokenContent
from frepo_integrity.upload_check import inspect_quickly
from support.own_plugins import open_services, root  # noqa: F401  # fixtures


def _run(
    function, content, name, *, max_output=1 << 40, max_ratio=1100, is_on=lambda kind: True, memory=MEMORY, **more
):
    budget = Budget(len(content), max_output=max_output, max_ratio=max_ratio, **more)
    try:
        inspection = Inspection(budget=budget, is_on=is_on, memory=memory)
        return function(io.BytesIO(content), len(content), name, inspection)
    except BrokenContent as broken:
        return broken


@pytest.fixture(scope="session")
def check():
    """Check bytes completely; return the report, or the `BrokenContent` that was raised."""
    return lambda content, name="dump", **more: _run(inspect, content, name, **more)


@pytest.fixture(scope="session")
def check_quickly():
    """The same with the checks of a large content."""
    return lambda content, name="dump", **more: _run(inspect_quickly, content, name, **more)


@pytest.fixture(scope="session")
def plugins():
    """All installed plug-ins, with the checks of frepo-integrity."""
    return PluginRegistry.from_entry_points()
