"""Charts that cannot be shown, and the figures of the overview."""

import sqlite3
from datetime import UTC, date, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

from .test_charts import GB, Growth, whole
from .test_states import refresh

pytestmark = pytest.mark.costly

FAILS = {"status": 503, "body": "{}", "content_type": "application/problem+json"}
DAY = 24 * 3600 * 1000  # milliseconds
STATES = ("damaged", "overdue", "failed", "full", "problem", "suspicious", "late", "new", "ok")
CARDS = {"Last 24 hours": "**/api/v1/events?*since=*", "Storage": "**/api/v1/history?*"}


def card(page, title):
    return page.locator("section.card", has=page.get_by_role("heading", name=title, exact=True))


@pytest.mark.parametrize("title", CARDS)
def test_a_chart_that_cannot_be_read_says_why_and_is_read_again(signed_in, api, title):
    signed_in.expect("503")
    page = signed_in.page
    api("POST", "/collections", {"name": f"{title}.tar"})
    Growth(page)
    page.route(CARDS[title], lambda route: route.fulfill(**FAILS))
    signed_in.go("#/more")
    signed_in.go("#/")
    error = card(page, title).locator(".err")
    expect(error).to_contain_text("This chart cannot be shown. The service answered 503. Try again in a moment.")
    expect(error).to_have_attribute("role", "alert")
    expect(page.locator(".err")).to_have_count(1)
    expect(page.get_by_role("region", name="Figures")).to_be_visible()
    page.unroute(CARDS[title])
    Growth(page)
    error.get_by_role("button", name="Try now").click()

    expect(error).to_have_count(0)
    expect(card(page, title).get_by_role("img").first).to_be_visible()


def test_a_chart_stays_when_it_cannot_be_read_again(signed_in, api):
    signed_in.expect("503")
    page = signed_in.page
    api("POST", "/collections", {"name": "stays.tar"})
    url = CARDS["Last 24 hours"]
    signed_in.go("#/more")
    signed_in.go("#/")
    page.route(url, lambda route: route.fulfill(**FAILS))
    refresh(page)
    shown = card(page, "Last 24 hours")
    expect(shown.locator(".err")).to_contain_text("This chart was read at ")
    expect(shown.get_by_role("img").first).to_be_visible()
    page.unroute(url)
    refresh(page)

    expect(shown.locator(".err")).to_have_count(0)


def test_the_arrivals_stay_when_the_next_half_an_hour_cannot_be_read(open_console, service, api):
    api("POST", "/collections", {"name": "half.tar"})
    console = open_console(is_first=True)
    console.expect("503")
    page = console.page
    page.clock.install()
    console.sign_in(service.admin)
    shown = card(page, "Last 24 hours")
    expect(shown.get_by_role("img").first).to_be_visible()
    page.route(CARDS["Last 24 hours"], lambda route: route.fulfill(**FAILS))
    page.clock.fast_forward(31 * 60 * 1000)

    expect(shown.locator(".err")).to_contain_text("This chart was read at ")
    expect(shown.get_by_role("img").first).to_be_visible()


def open_with_clock(open_console, service):
    """Open the overview with a clock that the test moves, and the growth of the storage."""
    console = open_console(is_first=True)
    console.expect("503")
    console.page.clock.install()
    growth = Growth(console.page)
    console.sign_in(service.admin)
    card(console.page, "Storage").scroll_into_view_if_needed()
    expect(card(console.page, "Storage").get_by_role("img").first).to_be_visible()
    return console, growth


def test_the_storage_is_read_again_on_the_next_day(open_console, service):
    console, growth = open_with_clock(open_console, service)
    console.page.clock.fast_forward(DAY)
    console.settle()

    first, second = (date.fromisoformat(since) for since in growth.since)
    assert timedelta(days=1) == second - first


def test_the_storage_stays_when_the_next_day_cannot_be_read(open_console, service):
    console, _ = open_with_clock(open_console, service)
    page = console.page
    page.route(CARDS["Storage"], lambda route: route.fulfill(**FAILS))
    page.clock.fast_forward(DAY)
    shown = card(page, "Storage")

    expect(shown.locator(".err")).to_contain_text("This chart was read at ")
    expect(shown.get_by_role("img").first).to_be_visible()


def test_a_calendar_that_cannot_be_read_says_why(signed_in, api):
    signed_in.expect("503")
    page = signed_in.page
    made = api("POST", "/collections", {"name": "unread.tar"})["id"]
    api("PUT", f"/collections/{made}/versions", b"one")
    page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(**FAILS))
    signed_in.go(f"#/collections/{made}")

    expect(card(page, "A year of backups").locator(".err")).to_contain_text("The service answered 503")


def test_a_calendar_stays_when_the_next_week_cannot_be_read(open_console, service, api):
    made = api("POST", "/collections", {"name": "week.tar"})["id"]
    api("PUT", f"/collections/{made}/versions", b"one")
    console = open_console(is_first=True)
    console.expect("503")
    page = console.page
    page.clock.install()
    console.sign_in(service.admin, f"#/collections/{made}")
    shown = card(page, "A year of backups")
    expect(shown.get_by_role("img")).to_be_visible()
    page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(**FAILS))
    page.clock.fast_forward(7 * DAY)

    expect(shown.locator(".err")).to_contain_text("This chart was read at ")
    expect(shown.get_by_role("img")).to_be_visible()


def test_a_chart_whose_program_is_missing_says_so(open_console, service, api):
    api("POST", "/collections", {"name": "program.tar"})
    console = open_console(is_first=True)
    console.expect("ERR_")
    page = console.page
    Growth(page)
    page.route("**/uplot.mjs", lambda route: route.abort())
    console.sign_in(service.admin)
    chart = card(page, "Storage")
    chart.scroll_into_view_if_needed()
    expect(chart.locator(".err")).to_contain_text("The service cannot be reached. Check the network")
    page.unroute("**/uplot.mjs")
    chart.get_by_role("button", name="Try now").click()

    expect(chart.locator(".uplot canvas")).to_be_visible()
    expect(chart.locator(".err")).to_have_count(0)


def open_again(console):
    """Leave the overview and open it, so that it reads its data."""
    console.go("#/more")
    console.go("#/")


def test_the_free_space_is_named_in_bytes_and_as_a_part_of_the_disk(signed_in):
    for free, total, shown in [
        (996 * GB, 1000 * GB, "Free space996 GB99.6% of 1.00 TB"),
        (999_999 * GB // 1000, 1000 * GB, "Free space1.00 TB99.9% of 1.00 TB"),
        (GB, 2000 * GB, "Free space1.00 GB0.1% of 2.00 TB"),
        (0, 1000 * GB, "Free space0 bytes0% of 1.00 TB"),
        (5 * GB, None, "Free space5.00 GBin the storage local"),
        (None, None, "Free spaceunknownthe storage local does not report it"),
    ]:
        Growth(signed_in.page, free=free, total=total)
        open_again(signed_in)

        expect(signed_in.page.get_by_role("region", name="Figures")).to_contain_text(shown)


def test_the_headline_counts_only_what_has_a_backup_as_backed_up(signed_in):
    page, counts = signed_in.page, {}
    page.route("**/api/v1/overview", lambda route: route.fulfill(json=whole(route) | {"collections": counts}))
    for states, shown in [
        ({}, "Nothing is backed up yet"),
        ({"new": 1}, "The collection has no backup"),
        ({"new": 3}, "None of the 3 collections has a backup"),
        ({"ok": 1}, "The collection is backed up"),
        ({"ok": 3}, "All 3 collections are backed up"),
        ({"late": 1}, "The backup of the collection is late"),
        ({"late": 1, "new": 1}, "None of the 2 collections is backed up as expected"),
        ({"ok": 1, "new": 1}, "1 of 2 collections is backed up as expected"),
        ({"ok": 2, "late": 1, "new": 1}, "2 of 4 collections are backed up as expected"),
        ({"ok": 2, "late": 1, "new": 1, "overdue": 1}, "1 of 5 collections needs attention"),
        ({"new": 1, "damaged": 1, "full": 1}, "2 of 3 collections need attention"),
    ]:
        in_trouble = sum(number for state, number in states.items() if state in STATES[:5])
        counts |= dict.fromkeys(STATES, 0) | states | {"total": sum(states.values()), "in_trouble": in_trouble}
        open_again(signed_in)

        expect(page.get_by_role("heading", level=1)).to_have_text(shown)


@pytest.mark.parametrize(
    ("roles", "shown"),
    [([], "Only the worst 2,000 are shown and counted."), ([Role.VIEW_METRICS], "Only the worst 2,000 are shown.")],
)
def test_it_says_that_not_all_of_very_many_collections_are_shown(console, world, api, roles, shown):
    page = console.page
    one = api("GET", f"/collections/{world['shop.sql.gz']}")
    many = {"items": [one | {"id": str(number)} for number in range(500)], "next": "more"}
    page.route("**/api/v1/collections?*", lambda route: route.fulfill(json=many))
    console.sign_in(api.token(Role.LIST_COLLECTIONS, Role.MODIFY_ANY_COLLECTION, *roles))

    expect(page.locator("header.head").get_by_text("Only the worst")).to_contain_text(shown)


def test_very_many_that_are_well_are_read_from_both_ends_at_once(signed_in, world, api):
    page, asked = signed_in.page, []
    one = api("GET", f"/collections/{world['shop.sql.gz']}")
    many = [one | {"id": f"{number:04}", "name": f"{number:04}", "state": "ok"} for number in range(1150)]

    def answer(route):
        asked.append(route)
        if len(asked) == 2:
            return  # the other end is asked before this one has answered
        for one in asked[1:] if len(asked) == 3 else [route]:
            query = parse_qs(urlsplit(one.request.url).query)
            start = int(query.get("cursor", ["0"])[0])
            items = (many if query["sort"] == ["name"] else many[::-1])[start : start + 500]
            one.fulfill(json={"items": items, "next": str(start + 500) if start + 500 < len(many) else None})

    def count(route):
        body = whole(route)
        route.fulfill(json=body | {"collections": body["collections"] | {"ok": len(many)}})

    page.route("**/api/v1/overview", count)
    page.route("**/api/v1/collections?state=ok&*", answer)
    open_again(signed_in)

    expect(page.get_by_role("heading", name="1150 collections are backed up")).to_be_visible()
    assert len(asked) <= 4


def test_bars_of_sizes_that_cannot_be_read_say_so(signed_in, world):
    signed_in.expect("503")
    page = signed_in.page
    page.route("**/api/v1/history/collections?*", lambda route: route.fulfill(**FAILS))
    signed_in.go("#/collections")

    expect(page.get_by_role("region", name="Collections").get_by_role("alert")).to_contain_text("503")


def test_a_late_failure_does_not_replace_a_chart_that_is_drawn(open_console, service, api):
    api("POST", "/collections", {"name": "race.tar"})
    console = open_console(is_first=True)
    console.expect("ERR_")
    page, held = console.page, []
    Growth(page)
    console.sign_in(service.admin, "#/more")
    page.route("**/uplot.mjs", lambda route: route.abort())

    # After the failure, the console asks whether the service has got another version of the console. That is slow.
    def hold(route):
        if route.request.resource_type == "fetch":
            held.append(route)
        else:
            route.continue_()

    page.route(lambda url: url.split("#")[0].endswith("/ui/"), hold)
    page.evaluate("location.hash = '#/'")
    chart = card(page, "Storage")
    chart.scroll_into_view_if_needed()
    for _ in range(250):
        if held:
            break
        page.wait_for_timeout(20)
    assert held
    # Meanwhile the network works again, and something draws the chart anew: other data, or the theme.
    page.unroute("**/uplot.mjs")
    page.evaluate("dispatchEvent(new Event('themechange'))")
    expect(chart.locator(".uplot canvas")).to_be_visible()
    for route in held:
        route.continue_()
    page.wait_for_timeout(500)

    expect(chart.locator(".uplot canvas")).to_be_visible()
    expect(chart.locator(".err")).to_have_count(0)


def test_a_tile_names_the_cause_before_what_follows_from_it(signed_in, service, api):
    """Its dumps are broken, and so no good one has arrived for three days. The filters find it by both states."""
    ids = {name: api("POST", "/collections", {"name": name, "expected_every": "P1D"})["id"] for name in ("cut", "idle")}
    api("PUT", f"/collections/{ids['cut']}/versions", b"good")
    times = [datetime.now(UTC) - timedelta(hours=hours) for hours in (72, 48, 46, 1)]
    arrived, due, overdue, failed = (f"{at:%Y-%m-%d %H:%M:%S.%f}" for at in times)
    with sqlite3.connect(service.folder / "frepo.db") as database:
        database.execute(
            "UPDATE collection SET due_at = ?, overdue_at = ? WHERE filename IN ('cut', 'idle')", (due, overdue)
        )
        changed = "arrived_at = ?, failed_since = ?, failed_reason = 'The gzip data is cut'"
        database.execute(f"UPDATE collection SET {changed} WHERE id = ?", (arrived, failed, ids["cut"]))
        database.execute("UPDATE version SET created_at = ? WHERE collection_id = ?", (arrived, ids["cut"]))
    database.close()
    page, console = signed_in.page, signed_in
    open_again(signed_in)

    expect(page.locator(".tile", has_text="cut")).to_contain_text("The last backup failed, no backup for 3 days")
    expect(page.locator(".tile", has_text="idle")).to_contain_text("Nothing has ever been sent")
    console.go("#/collections?state=failed")
    row = page.get_by_role("row").filter(has_text="cut")
    expect(row).to_contain_text("Overdue")
    expect(row.get_by_role("img", name="Failed")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="idle")).to_have_count(0)
    for one in ids.values():
        api("DELETE", f"/collections/{one}?versions=trash")


def test_untested_restores_and_an_old_backup_are_amber_with_a_link(signed_in, service, api):
    api("POST", "/collections", {"name": "unwatched.bin", "labels": ["old"]})
    made = api("GET", "/collections?q=unwatched")["items"][0]["id"]
    api("PUT", f"/collections/{made}/versions", b"old")
    long_ago = f"{datetime.now(UTC) - timedelta(days=11, hours=1):%Y-%m-%d %H:%M:%S.%f}"
    with sqlite3.connect(service.folder / "frepo.db") as database:
        database.execute("UPDATE version SET created_at = ? WHERE collection_id = ?", (long_ago, made))
        database.execute("UPDATE collection SET arrived_at = ? WHERE id = ?", (long_ago, made))
    database.close()
    page = signed_in.page
    open_again(signed_in)
    old = page.locator(".late").get_by_role("link", name="the oldest backup is 11 days old")
    expect(old).to_have_attribute("href", f"#/collections/{made}")
    untested = page.get_by_role("region", name="Figures").locator("dd.late").get_by_role("link", name="never")
    assert [] == signed_in.violations()
    untested.click()

    expect(page.get_by_role("button", name="not restore-tested for")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="unwatched.bin")).to_be_visible()
    api("DELETE", f"/collections/{made}?versions=trash")
