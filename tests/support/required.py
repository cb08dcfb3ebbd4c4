"""Turns a skip because of a missing server into a failure if FREPO_REQUIRE_SERVERS is set, as in CI."""

import os

import pytest

MISSING = "not installed"


def is_required() -> bool:
    """Return whether each server must be there."""
    return bool(os.environ.get("FREPO_REQUIRE_SERVERS"))


def _require(report):
    is_skip = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    reason = report.longrepr[2] if is_skip and isinstance(report.longrepr, tuple) else ""
    if MISSING in reason and is_required():
        report.outcome = "failed"
        report.longrepr = f"FREPO_REQUIRE_SERVERS is set, but: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    return _require((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    return _require((yield))
