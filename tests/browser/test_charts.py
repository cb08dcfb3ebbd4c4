"""What the charts draw: the growth of the storage with its forecast, and the calendar of a year of backups."""

from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.costly

GB = 1000**3
DAY = timedelta(days=1)
# The colours around points of the chart, each a pair of seconds and bytes, and in a column of it. The picture begins
# with the first time and ends with the last one; its height is 8 % more than the highest value.
COLOURS = """([points, first, last, most, wide]) => {
  const area = document.querySelector(".u-over").getBoundingClientRect();
  const canvas = document.querySelector(".uplot canvas");
  const place = canvas.getBoundingClientRect();
  const ratio = canvas.width / place.width;
  return points.map(([time, value]) => {
    const x = (area.left - place.left + ((time - first) / (last - first)) * area.width) * ratio;
    const y = (area.top - place.top + (1 - value / (most * 1.08)) * area.height) * ratio;
    const { data } = canvas.getContext("2d").getImageData(Math.round(x) - wide, Math.round(y) - 2, 2 * wide + 1, 5);
    return [...new Set(Array.from({ length: data.length / 4 }, (_, at) => data.slice(4 * at, 4 * at + 4).join()))];
  });
}"""
NOTHING = "0,0,0,0"
VARIABLE = """([name, className]) => {
  const probe = document.body.appendChild(Object.assign(document.createElement("i"), { className }));
  probe.style.color = `var(--${name})`;
  const found = getComputedStyle(probe).color.match(/\\d+/g).join();
  probe.remove();
  return `${found},255`;
}"""


def whole(route):
    """The answer to a request, also if the console asks only whether it has changed."""
    headers = {name: value for name, value in route.request.headers.items() if name != "if-none-match"}
    return route.fetch(headers=headers).json()


class Growth:
    """The chart of the storage, with answers of the service that are known."""

    def __init__(self, page, *, days=(100, 80, 60, 40, 20), growth=GB // 10, free=1000 * GB, total=None, full_on=None):
        self.page = page
        self.now = datetime.now(UTC)
        self.samples = [(self.now - day * DAY, (10 + place) * GB) for place, day in enumerate(days)]
        self.stored = (10 + len(days)) * GB
        self.since = []
        changes = {"growth_per_day": growth, "full_on": full_on, "at": self.now.isoformat()}
        changes |= {"free_space": free, "total_space": total}
        page.route("**/api/v1/overview", lambda route: self._answer(route, changes))
        page.route("**/api/v1/history?*", self._history)

    def _answer(self, route, changes):
        body = whole(route) | changes
        body["size"]["stored"] = self.stored
        route.fulfill(json=body)

    def _history(self, route):
        self.since.append(route.request.url.partition("since=")[2][:10])
        items = [{"at": at.isoformat(), "size": size} for at, size in self.samples]
        route.fulfill(json={"items": items, "next": None})

    def colours(self, points, *, last, most, wide=1):
        """The colours at each point, a pair of a time and bytes."""
        expect(self.page.locator(".uplot canvas")).to_be_visible()
        seconds = [(at.timestamp(), value) for at, value in points]
        first = self.samples[0][0].timestamp()
        return self.page.evaluate(COLOURS, [seconds, first, last.timestamp(), most, wide])

    def colour(self, name, class_name=""):
        return self.page.evaluate(VARIABLE, [name, class_name])

    def forecast(self, day, rate=1.0, growth=GB // 10):
        return self.now + day * DAY, self.stored + day * rate * growth


@pytest.fixture
def page(signed_in):
    signed_in.expect("getImageData")
    yield signed_in.page
    signed_in.page.unroute_all(behavior="ignoreErrors")


def open_overview(signed_in):
    """Open it again: the first time it had the answers of the service."""
    signed_in.go("#/more")
    signed_in.go("#/")
    chart = signed_in.page.get_by_role("img", name="are stored")
    chart.scroll_into_view_if_needed()
    return chart


def test_the_growth_and_its_forecast_are_drawn(signed_in, page):
    growth = Growth(page)
    chart = open_overview(signed_in)
    expect(chart).to_have_accessible_name("15.0 GB are stored. not full within five years, at 100 MB a day")
    last, most = growth.forecast(91, rate=1.25)
    drawn = {"last": last, "most": most}
    accent = growth.colour("accent")
    lines = growth.colours([*growth.samples[1:], (growth.now, growth.stored)], **drawn)
    dashes = growth.colours([growth.forecast(day) for day in (30, 60, 85)], **drawn, wide=8)
    bounds = [growth.forecast(85, rate) for rate in (0.8, 1.2)]
    band = growth.colours(bounds, **drawn)
    outside = growth.colours([growth.forecast(85, rate) for rate in (0.5, 1.4)], **drawn)

    assert [] == [at for at, colours in zip(growth.samples[1:], lines, strict=False) if accent not in colours]
    assert accent in lines[-1]
    assert [True] * 3 == [accent in colours for colours in dashes]
    assert [True] * 2 == [growth.colour("accent-t") in colours for colours in band]
    assert [[NOTHING]] * 2 == outside
    expect(page.get_by_text("forecast from the last 30 days")).to_be_visible()
    expect(page.get_by_text("capacity")).to_have_count(0)


def test_the_chart_shows_when_the_storage_is_full(signed_in, page):
    growth = Growth(page, free=5 * GB, full_on="2031-05-04")
    chart = open_overview(signed_in)
    expect(chart).to_have_accessible_name("15.0 GB are stored. full on 4 May 2031, at 100 MB a day")
    last, most = growth.forecast(91, rate=1.25)
    [limit] = growth.colours([(growth.now - 50 * DAY, 20 * GB)], last=last, most=most, wide=8)

    assert growth.colour("c", "full") in limit
    expect(page.get_by_text("capacity, 20.0 GB")).to_be_visible()


def test_the_range_of_the_growth_is_chosen(signed_in, page):
    growth = Growth(page, days=(20, 10), growth=-GB)
    chart = open_overview(signed_in)
    page.get_by_role("button", name="30 days").click()
    expect(page.get_by_role("button", name="30 days")).to_have_attribute("aria-pressed", "true")
    expect(chart).to_have_accessible_name("12.0 GB are stored. not full within five years: 1.00 GB less each day")
    signed_in.settle()
    [line] = growth.colours([growth.samples[1]], last=growth.now, most=growth.stored)

    assert growth.colour("accent") in line
    assert [(growth.now - days * DAY).date().isoformat() for days in (182, 30)] == growth.since
    expect(page.get_by_text("forecast")).to_have_count(0)


def test_a_storage_without_history_says_when_the_curve_begins(signed_in, page):
    Growth(page, days=(1,), growth=None)
    signed_in.go("#/more")
    signed_in.go("#/")

    expect(page.get_by_text("The curve begins when the second daily sample is written.")).to_be_visible()


def squares(page):
    """The days of the calendar: the date and the text of each, the classes of its square, and its column and row."""
    return page.locator("svg.cal g").evaluate_all("""(all) => all.map((one) => {
      const { x, y } = one.querySelector("rect").getBBox();
      const [title, kind] = [one.querySelector("title").textContent, one.querySelector("rect").getAttribute("class")];
      return [...title.split(": "), kind, Math.floor(x / 11), Math.floor(y / 11)];
    })""")


def test_the_calendar_has_a_square_for_each_day_of_a_year(signed_in, page, api):
    made = api("POST", "/collections", {"name": "calendar.tar"})["id"]
    api("PUT", f"/collections/{made}/versions", b"one")
    today = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)
    kinds = {
        1: ["version.added"],
        2: ["version.added", "version.added", "version.suspicious"],
        3: ["version.refused", "version.refused"],
        4: ["version.quarantined"],
        5: ["version.refused", "version.added"],
        7: ["version.added", "run.failed"],
        400: ["version.added"],
    }
    events = [{"kind": kind, "at": (today - days * DAY).isoformat()} for days, found in kinds.items() for kind in found]
    broken = (today - 8 * DAY).isoformat()
    events.append({"kind": "version.quarantined", "at": broken, "data": {"verdict": "broken"}})
    late = (today - 6 * DAY).isoformat()  # it says nothing about the backups
    events.append({"kind": "version.quarantined", "at": late, "data": {"reason": "overtaken"}})
    condemned = [("version.added", 10), ("version.condemned", 1)]  # the version that came on the tenth day before
    released = [("version.quarantined", 12), ("version.released", 11)]
    for number, found in enumerate((condemned, released), 1):
        events += [
            {"kind": kind, "at": (today - days * DAY).isoformat(), "version_number": number} for kind, days in found
        ]
    events.sort(key=lambda event: event["at"], reverse=True)
    created = (today - 100 * DAY).isoformat()

    def answer(route):
        route.fulfill(json=whole(route) | {"created_at": created})

    page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(json={"items": events, "next": None}))
    page.route(f"**/api/v1/collections/{made}", answer)
    signed_in.go(f"#/collections/{made}")
    expect(page.get_by_role("heading", name="A year of backups")).to_be_visible()
    found = squares(page)
    by_age = dict(enumerate(reversed(found)))

    assert 52 * 7 + today.weekday() + 1 == len(found)
    assert [(place // 7, place % 7) for place in range(len(found))] == [tuple(one[3:]) for one in found]
    assert {
        0: ["no backup", "day dot"],
        1: ["1 backup", "day"],
        2: ["2 backups, suspicious", "day hollow suspicious"],
        3: ["refused", "day hollow full"],
        4: ["suspicious", "day hollow suspicious"],
        5: ["1 backup", "day"],
        6: ["no backup", "day dot"],
        7: ["1 backup, failed", "day hollow failed"],
        8: ["failed", "day hollow failed"],
        10: ["1 backup, failed", "day hollow failed"],
        12: ["1 backup", "day"],
        99: ["no backup", "day dot"],
        101: ["no backup", "day faded"],
    } == {age: by_age[age][1:3] for age in (0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 99, 101)}
    day = today - DAY
    assert by_age[1][0].startswith(f"{day.day} ")
    expect(page.get_by_role("img", name=f"backups on 6 of {len(found)} days")).to_be_visible()
    expect(page.get_by_text("0 of 100 expected")).to_have_count(0)  # nothing is expected of it
    names = page.locator("svg.cal text").all_text_contents()
    assert ["Mon", "Wed", "Fri"] == names[-3:]
    months = names[:-3]
    assert 11 <= len(set(months)) <= 12
    for text in ("arrived", "failed", "suspicious", "refused", "no backup"):
        expect(page.locator(".key").get_by_text(text, exact=True).last).to_be_visible()


def test_days_beyond_the_read_events_do_not_count_as_days_without_a_backup(signed_in, page, api):
    made = api("POST", "/collections", {"name": "often.tar"})["id"]
    api("PUT", f"/collections/{made}/versions", b"one")
    now = datetime.now(UTC)
    created = (now - 100 * DAY).isoformat()
    events = [{"kind": "version.added", "at": (now - DAY).isoformat()}] * 500
    page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(json={"items": events, "next": "more"}))
    page.route(
        f"**/api/v1/collections/{made}", lambda route: route.fulfill(json=whole(route) | {"created_at": created})
    )
    signed_in.go(f"#/collections/{made}")
    expect(page.get_by_role("heading", name="A year of backups")).to_be_visible()
    by_age = dict(enumerate(reversed(squares(page))))

    assert {0: "no backup", 1: "3000 backups", 2: "not read", 99: "not read"} == {
        age: by_age[age][1] for age in (0, 1, 2, 99)
    }
    expect(page.get_by_role("img", name="backups on 1 of 2 days, earlier days are not read")).to_be_visible()


def test_the_arrivals_say_if_too_many_events_were_not_read(open_console, service, api):
    api("POST", "/collections", {"name": "many.tar"})
    console = open_console(is_first=True)
    at = datetime.now(UTC) - timedelta(hours=2)
    events = [{"kind": "version.added", "at": at.isoformat(), "data": {}}] * 500
    console.page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(json={"items": events, "next": "more"}))
    console.sign_in(service.admin)
    console.go("#/")
    shown = f"2000 backups arrived, only those since {at:%H:%M} are counted"

    expect(console.page.get_by_text(shown)).to_be_visible()
    expect(console.page.get_by_role("img", name=shown)).to_be_visible()


def test_a_version_in_quarantine_has_not_arrived(open_console, service, api):
    api("POST", "/collections", {"name": "quarantine.tar"})
    console = open_console(is_first=True)
    now = datetime.now(UTC).isoformat()
    events = [{"kind": kind, "at": now, "data": {}} for kind in ("version.added", "version.quarantined")]
    console.page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(json={"items": events, "next": None}))
    console.sign_in(service.admin)
    console.go("#/")

    expect(console.page.get_by_text("1 backup arrived, 1 suspicious")).to_be_visible()


def test_a_night_that_failed_is_counted_apart(open_console, service, api):
    api("POST", "/collections", {"name": "night.tar"})
    console = open_console(is_first=True)
    now = datetime.now(UTC).isoformat()
    kinds = {"version.added": {}, "run.failed": {}, "version.quarantined": {"verdict": "broken"}}
    events = [{"kind": kind, "at": now, "data": data} for kind, data in kinds.items()]
    console.page.route("**/api/v1/events?*since=*", lambda route: route.fulfill(json={"items": events, "next": None}))
    console.sign_in(service.admin)
    console.go("#/")

    expect(console.page.get_by_text("1 backup arrived, 2 failed")).to_be_visible()
