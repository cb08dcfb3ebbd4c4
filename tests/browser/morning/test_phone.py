"""On a phone, long pages fold, and what belongs together is in one line."""

from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.costly

# Whether the hint in an empty field is shown whole.
HAS_ROOM = """(one) => {
  const { fontFamily, fontSize, paddingLeft, paddingRight } = getComputedStyle(one);
  const canvas = document.createElement("canvas").getContext("2d");
  canvas.font = `${fontSize} ${fontFamily}`;
  const room = one.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  return canvas.measureText(one.placeholder).width <= room;
}"""


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
    phone.page.get_by_text("jobs fine").click()
    expect(button).to_be_visible()


def test_an_event_has_its_button_next_to_it(phone):
    phone.go("#/events")
    row = phone.page.locator(".list > li", has_text="Collection created").first
    expect(row).to_be_visible()
    tops = [row.locator(one).bounding_box()["y"] for one in ("b", "button")]
    assert abs(tops[0] - tops[1]) < 20


def test_the_buttons_of_a_list_are_in_one_line(phone):
    phone.go("#/collections")
    button = phone.page.get_by_role("link", name="New collection")
    expect(button).to_be_visible()
    buttons = phone.page.locator("header.head :is(a, button)").all()
    assert 1 == len({one.bounding_box()["y"] for one in buttons})
    assert 3 == len(buttons)


@pytest.mark.parametrize("view", ["collections", "files", "tokens", "events"])
def test_a_search_has_room_for_its_hint(phone, view):
    phone.go(f"#/{view}")
    assert phone.page.locator("[data-search]").evaluate(HAS_ROOM)


def test_the_field_of_an_alias_has_room_for_its_hint(phone, api):
    made = api("POST", "/files?name=hinted.txt", b"hinted")
    phone.go(f"#/files/{made['name']}")
    assert phone.page.get_by_label("Alias", exact=True).evaluate(HAS_ROOM)


def test_what_can_be_done_with_selected_rows_is_above_the_menu(phone):
    phone.go("#/collections?q=fleet-")
    phone.page.locator("tbody input[type=checkbox]").first.check()
    bar = phone.page.get_by_role("region", name="1 selected")
    expect(bar).to_be_visible()
    box, menu = (one.bounding_box() for one in (bar, phone.page.locator("nav.side")))
    assert box["y"] + box["height"] <= menu["y"]
    assert box["height"] < 80


def test_two_versions_are_compared_without_scrolling_sideways(phone, api):
    guards = {"max_shrink_percent": 50, "on_suspicious": "quarantine"}
    made = api("POST", "/collections", {"name": "compared.sql", "guards": guards})["id"]
    for size in (900, 901, 902, 903, 10):
        api("PUT", f"/collections/{made}/versions", (b"ab" * size)[:size])
    phone.go(f"#/collections/{made}")
    phone.page.get_by_role("button", name="Compare").first.click()
    dialog = phone.page.get_by_role("dialog")
    expect(dialog.get_by_text("the newest good one")).to_be_visible()
    assert dialog.evaluate("(one) => one.scrollWidth <= one.clientWidth")


def test_the_simulator_is_next_to_the_settings(signed_in, api):
    made = api("POST", "/collections", {"name": "simulated.sql"})["id"]
    signed_in.go(f"#/collections/{made}/settings")
    boxes = [
        signed_in.page.get_by_role("heading", name=name, exact=True).bounding_box()
        for name in ("Settings", "Retention simulator")
    ]
    assert abs(boxes[0]["y"] - boxes[1]["y"]) < 20


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
