"""Adds the logs of the database servers, and whether they still run, to the report of a failed test."""

import pytest

from support.servers.processes import end_of, running, state_of


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        report.sections += [(f"Log of a server: {state_of(process)}", end_of(log)) for process, log in running.items()]
    return report
