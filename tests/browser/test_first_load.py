"""What the console asks for when it opens, and what it shows meanwhile."""

import re

from playwright.sync_api import expect


def test_the_first_tiles_need_two_requests(open_console, service, world):
    console, held = open_console(is_first=True), []
    needed = re.compile(r"/api/v1$|/api/v1/collections\?state=damaged&.*sort=state.*fields=")
    console.page.route(
        "**/api/v1**", lambda route: route.continue_() if needed.search(route.request.url) else held.append(route)
    )
    console.page.goto(f"{console.url}#token={service.admin}")

    expect(console.page.locator(".tile", has_text="mail.tar")).to_contain_text("No backup for 3 days")
    assert held
    for route in held:
        route.continue_()
    console.page.unroute_all(behavior="ignoreErrors")
    expect(console.page.get_by_role("navigation", name="Collections by state")).to_contain_text("Overdue")


def test_the_frame_is_there_before_any_other_file(open_console, service):
    console, held = open_console(is_first=True), []

    def hold(route):
        held.append(route)

    console.page.route(re.compile(r"\.(m?js|css)$"), hold)
    console.page.goto(f"{console.url}#token={service.admin}", wait_until="commit")

    expect(console.page.locator(".side .brand")).to_have_text("frepo")
    expect(console.page.locator("main .skel")).to_be_visible()
    # Nothing jumps: the name stays where it is.
    before = console.page.locator(".side .brand").bounding_box()
    for route in held:
        route.continue_()
    console.page.unroute_all(behavior="ignoreErrors")
    console.page.wait_for_selector("nav.side")
    assert before == console.page.locator(".side .brand").bounding_box()


# At each picture: whether the page has a frame and something in it. Before the first one there is no page yet.
PICTURES = """window.pictures = [];
const look = () => {
  const [brand, main] = [".brand", "main"].map((name) => document.querySelector(name)?.getBoundingClientRect());
  const isWhole = brand?.height > 0 && main?.height > 0;
  if (brand || pictures.length) pictures.push({ at: performance.now(), isWhole });
  requestAnimationFrame(look);
};
look();"""
SLOW_LINE = {"offline": False, "latency": 300, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
FIRST_PICTURE = """performance.getEntriesByName("first-contentful-paint")[0].startTime"""
FIRST_FILE = """Math.min(...performance.getEntriesByType("resource").map(({ responseEnd }) => responseEnd))"""
PROGRAM_ARRIVED = """Math.max(...performance.getEntriesByType("resource")
  .filter(({ name }) => name.endsWith("js")).map(({ responseEnd }) => responseEnd))"""


def test_on_a_slow_line_nothing_is_blank_and_two_requests_bring_the_first_tiles(open_console, service, world):
    console, asked = open_console(is_first=True, script=PICTURES), []
    page = console.page
    tools = page.context.new_cdp_session(page)
    tools.send("Network.enable")
    tools.send("Network.emulateNetworkConditions", SLOW_LINE)
    page.on("requestfinished", lambda request: asked.append(request.url) if "/api/v1" in request.url else None)
    page.goto(f"{console.url}#token={service.admin}", wait_until="commit")

    expect(page.locator(".tile", has_text="mail.tar")).to_contain_text("No backup for 3 days")
    pictures, arrived = page.evaluate("pictures"), page.evaluate(PROGRAM_ARRIVED)
    # The page itself: 300 ms, and a third of a second for its bytes. A host that is busy may take longer to draw.
    assert (first := page.evaluate(FIRST_PICTURE)) < page.evaluate(FIRST_FILE)
    assert sum(one["at"] < arrived for one in pictures) > 10
    # Before the first one is drawn, a busy host may have read one half of the page and not the other.
    assert [] == [one for one in pictures if one["at"] > first and not one["isWhole"]]
    page.wait_for_load_state("networkidle")
    assert 1 == sum(url.endswith("/api/v1/overview") for url in asked), asked


def test_the_overview_is_asked_once_for_the_menu_and_the_view(open_console, service, world):
    console, asked = open_console(is_first=True), []
    console.page.on("request", lambda request: asked.append(request.url))
    console.page.goto(f"{console.url}#token={service.admin}")
    expect(console.page.locator(".badge.overdue").first).to_be_visible()
    console.page.wait_for_load_state("networkidle")
    assert 1 == sum(url.endswith("/api/v1/overview") for url in asked)

    console.page.wait_for_timeout(1500)
    console.go("#/collections")
    assert 2 == sum(url.endswith("/api/v1/overview") for url in asked)
