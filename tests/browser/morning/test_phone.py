"""On a phone, long pages fold, and what belongs together is in one line."""

from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect


@pytest.fixture(scope="module")
def many(api):
    for number in range(21):
        api("POST", "/collections", {"name": f"fleet-{number:02}.tar"})


@pytest.fixture
def phone(open_console, service, many):
    """A page whose modules are loaded on a phone."""
    console = open_console(width="phone", is_first=True)
    console.sign_in(service.admin)
    return console


def test_a_long_list_begins_with_twenty_rows(phone):
    phone.go("#/collections?q=fleet-")
    rows = phone.page.locator("tbody tr")
    expect(rows).to_have_count(20)
    phone.page.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(21)


def test_jobs_without_a_failure_are_folded(phone):
    phone.go("#/health")
    button = phone.page.get_by_role("button", name="Run now: verify")
    expect(phone.page.get_by_role("heading", name="Jobs")).to_be_visible()
    expect(button).to_be_hidden()
    phone.page.get_by_text("jobs without a failure").click()
    expect(button).to_be_visible()


def test_an_event_has_its_button_next_to_it(phone):
    phone.go("#/events")
    row = phone.page.locator(".list > li", has_text="Collection created").first
    expect(row).to_be_visible()
    tops = [row.locator(one).bounding_box()["y"] for one in ("b", "button")]
    assert abs(tops[0] - tops[1]) < 20


@pytest.mark.parametrize("width", ["wide", "phone"])
def test_a_figure_is_one_line(open_console, service, api, width):
    """Also the longest one: a backup that was due 59 minutes ago."""
    made = api("POST", "/collections", {"name": f"due-{width}.tar", "expected_every": "PT1M"})["id"]
    due = datetime.fromisoformat(api("GET", f"/collections/{made}")["due_at"])
    console = open_console(width=width)
    console.sign_in(service.admin)
    console.page.clock.set_fixed_time(due + timedelta(minutes=59))
    console.go(f"#/collections/{made}")
    value = console.page.locator(".facts dd", has_text="minutes ago").first
    expect(value).to_be_visible()
    lines = value.evaluate(
        "(one) => { const text = document.createRange(); text.selectNode(one.firstChild);"
        "return text.getClientRects().length }"
    )
    assert 1 == lines
