"""The report says what needs action, and is sent in the configured ways."""

from datetime import UTC, datetime, timedelta

import pytest

from frepo_core.plugins import CollectionUsage
from frepo_core.testing import make_job_context
from frepo_job_report import frepo_jobs, send_report
from frepo_job_report.report import make_report

MONDAY = datetime(2024, 2, 26, 7, tzinfo=UTC)


def usage(name, **more):
    values = {"versions": 2, "size": 2_500_000, "newest_at": MONDAY, "max_versions": 5, "max_size": 0, "state": "ok"}
    return CollectionUsage(id=f"id-of-{name}", name=name, **values | more)


def test_it_says_what_needs_action():
    found = [
        usage("a", newest_at=MONDAY - timedelta(days=8)),
        usage("b", state="failed", size=9),
        usage("c", newest_at=None),
    ]

    report = make_report(found, now=MONDAY)

    lines = report.body.splitlines()
    assert ("Weekly report: 1 of 3 collections need action", "warning") == (report.title, report.level)
    assert ["6 versions in 3 collections, 5.00 MB.", "2 collections got no version this week."] == lines[:2]
    assert "- b (id-of-b) is failed" in lines
    assert ["- a: 2.50 MB", "- c: 2.50 MB", "- b: 9 bytes"] == lines[-3:]


def test_a_long_report_fits_into_a_message():
    assert 16_384 > len(
        make_report([usage(f"{number:0>60}", state="failed") for number in range(5000)], now=MONDAY).body
    )


class TestService:
    @pytest.fixture
    def frepo_service_settings(self):
        return {"report.schedule": "off"}

    def test_it_is_sent_as_a_message(self, frepo_service):
        frepo_service.push(frepo_service.make_collection(filename="orders.sql"), b"a dump")
        context = frepo_service.context("report")

        summary = send_report(make_job_context(context.settings, context.service))

        assert "Weekly report: 0 of 1 collections need action" == summary["title"]

    def test_its_schedule_is_set(self, frepo_service):
        (job,) = frepo_jobs(frepo_service.context("report"))

        assert "off" == job.schedule
