"""Each view without a service, with payloads in every text, by the keyboard alone, without motion, and enlarged."""

import json
import re

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role
from support.scale import IS_BIG, first_of
from support.wire import eventually

from .conftest import XSS, open_collection

TABS = ("versions", "runs", "settings", "access", "send", "events")
# Of the texts in answers, those that a client or a plug-in writes.
TEXTS = {
    *("name", "description", "labels", "tags", "title", "text", "summary", "message", "help", "advice", "note"),
    *(
        "requested_name",
        "file_name",
        "collection_name",
        "user_agents",
        "user_agent",
        "actor_name",
        "version",
        "storage",
    ),
    *(
        "state_reason",
        "error_output",
        "host",
        "client",
        "verdict_reason",
        "default",
        "distribution",
        "error",
        "reason",
        "data",
        "before",
        "after",
        "details",
        "address",
        "author",
        "value",
    ),
}
MARK = "onerror="


def half(views, first):
    """Return every second view, from the first or the second on; all in the long form."""
    return [*views.values()] if IS_BIG else [*views.values()][first::2]


@pytest.fixture(scope="module")
def views(world, api):
    """The fragment of each view by its name."""
    file = api("POST", "/files?name=notes.txt&tag=web", b"notes")
    collection = {tab: f"#/collections/{world['shop.sql.gz']}/{tab}" for tab in TABS}
    others = ("", "collections", "files", "tokens", "events", "health", "health/settings", "health/plugins")
    return {name: f"#/{name}" for name in others} | collection | {"file": f"#/files/{file['name']}"}


def refresh(page):
    """Let the view read its data again, as it does when the tab comes to the front."""
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


@pytest.mark.costly
def test_a_view_keeps_its_data_without_a_network(signed_in, views):
    signed_in.expect("ERR_INTERNET_DISCONNECTED")
    page = signed_in.page
    for fragment in half(views, 0):
        signed_in.go(fragment)
        if fragment.startswith("#/health"):  # its heading is what was found
            expect(page.locator("main h1")).not_to_have_text("Health")
        shown = page.locator("main h1").inner_text()
        page.context.set_offline(True)
        refresh(page)
        if not fragment.endswith("/send"):  # the commands are written by the page itself, below what was read
            expect(page.get_by_role("alert").first, fragment).to_contain_text("The service does not answer")
        assert (fragment, shown) == (fragment, page.locator("main h1").inner_text())
        page.context.set_offline(False)
        refresh(page)
        expect(page.get_by_role("alert"), fragment).to_have_count(0)


@pytest.mark.costly
def test_a_view_that_was_not_loaded_yet_is_loaded_later(open_console, service, world):
    for fragment in ("#/tokens", "#/health", f"#/collections/{world['shop.sql.gz']}"):
        console = open_console(is_first=True)
        console.expect("ERR_INTERNET_DISCONNECTED")
        console.sign_in(service.admin, "#/collections")
        page = console.page
        page.context.set_offline(True)
        page.evaluate("(fragment) => { location.hash = fragment }", fragment)
        expect(page.get_by_role("alert").first).to_contain_text("The service does not answer")
        page.context.set_offline(False)
        page.get_by_role("button", name="Try now").first.click()

        expect(page.get_by_role("alert")).to_have_count(0)
        expect(page.locator("main h1")).not_to_have_text("Collections")


@pytest.mark.costly
def test_a_service_in_maintenance_is_named_and_read_again(signed_in, views):
    signed_in.expect("503")
    page = signed_in.page
    answer = {"status": 503, "body": "{}", "content_type": "application/problem+json"}
    for fragment in half(views, 1):
        signed_in.go("#/more")
        page.route("**/api/v1/*", lambda route: route.fulfill(**answer))
        page.route("**/api/v1/*/**", lambda route: route.fulfill(**answer))
        page.evaluate("(fragment) => { location.hash = fragment }", fragment)
        expect(page.get_by_role("alert").first).to_contain_text("(503)")
        page.unroute_all(behavior="wait")  # a late 503 would be shown as new
        page.get_by_role("button", name="Try now").first.click()
        refresh(page)
        expect(page.get_by_role("alert"), fragment).to_have_count(0)


def poisoned(value, is_text=False):
    """Return the JSON with a payload at the end of every text that somebody else can write."""
    if isinstance(value, dict):
        return {key: poisoned(one, is_text=is_text or key in TEXTS) for key, one in value.items()}
    if isinstance(value, list):
        return [poisoned(one, is_text=is_text) for one in value]
    return f"{value} {XSS}" if is_text and isinstance(value, str) else value


@pytest.mark.costly
def test_payloads_in_every_text_stay_texts(signed_in, views):
    page = signed_in.page
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))

    def poison(route):
        answer = route.fetch()
        is_json = "json" in answer.headers.get("content-type", "")
        body = json.dumps(poisoned(answer.json())) if is_json and answer.status == 200 else answer.body()
        route.fulfill(response=answer, body=body)

    page.route("**/api/v1**", poison)
    page.route("**/api/v1/**", poison)
    page.reload()
    without = []
    for name, fragment in views.items():
        signed_in.go(fragment)
        for button in page.locator("main [aria-expanded=false]").all()[:3]:
            button.click()
        if MARK not in page.locator("body").inner_text():
            without.append(name)
        assert (name, 0) == (name, page.locator("img[src=x], [onerror], [onload], script:not([src])").count())
    page.unroute_all(behavior="wait")

    assert [] == without


@pytest.mark.costly
def test_the_main_path_needs_no_mouse(console, service, api):
    made = api("POST", "/collections", {"name": "keyboard.txt"})
    page, press = console.page, console.page.keyboard.press

    def tab_to(name):
        for _ in range(40):
            press("Tab")
            focused = page.evaluate(
                "[document.activeElement.ariaLabel || document.activeElement.textContent, "
                "getComputedStyle(document.activeElement).outlineStyle]"
            )
            if focused[0].startswith(name):  # the main part of the page has the text of all its buttons
                assert "none" != focused[1], f"{name} does not show that it has the focus"
                return
        pytest.fail(f"Tab does not lead to {name}")

    page.on("filechooser", lambda chooser: None)  # from now on, so that the browser knows it when the key comes
    page.goto(console.url)
    page.get_by_label("Token", exact=True).wait_for()
    page.keyboard.type(service.admin)
    press("Enter")
    page.get_by_role("navigation", name="Main").wait_for()
    press("g")
    press("c")
    page.locator("tbody tr").first.wait_for()
    press("/")
    page.keyboard.type("keyboard")
    expect(page).to_have_url(re.compile("q=keyboard$"))
    console.settle()  # a part of the text finds the same row, which is then drawn anew
    expect(page.locator("tbody tr")).to_have_count(1)
    tab_to("Select all")
    press("j")
    press("Enter")
    expect(page.get_by_role("heading", name="keyboard.txt")).to_be_visible()
    press("u")
    tab_to("Choose a file")
    with page.expect_file_chooser() as chooser:
        press("Enter")
    chooser.value.set_files({"name": "k.txt", "mimeType": "", "buffer": b"by keys"})
    expect(page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)
    console.settle()
    tab_to("Remove k.txt")
    press("j")
    expect(page.locator("tbody tr")).to_be_focused()
    press("p")
    expect(page.locator("tbody tr")).to_contain_text("Pinned")
    expect(page.locator("tbody tr")).to_be_focused()
    press("p")
    tab_to("Unpin")
    press("Enter")
    expect(page.locator("tbody tr")).not_to_contain_text("Pinned")
    tab_to("Delete version 1")
    press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.locator("dialog :focus, dialog:focus")).to_have_count(1)
    press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete version 1")).to_be_focused()
    assert 1 == api("GET", f"/collections/{made['id']}")["versions"]


MOVING = """() => [...document.querySelectorAll("*")].filter((one) => {
  const style = getComputedStyle(one);
  const isMoving = style.transitionDuration.split(",").some((text) => parseFloat(text) > 0.01);
  return style.animationName !== "none" || isMoving || style.scrollBehavior === "smooth";
}).map((one) => one.outerHTML.slice(0, 80))"""
# What is cut off to the right, or leads to scrolling to the side; tables and tabs may scroll in their own box.
OUTSIDE = """() => [...document.querySelectorAll("main *, nav *")].filter((one) =>
  !one.closest(".scroll, .tabs, pre, svg, .vh") && one.checkVisibility() &&
  one.getBoundingClientRect().right > innerWidth + 1
).map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.costly
def test_nothing_moves_if_the_person_wants_no_motion(signed_in, views):
    found = {}
    for name, fragment in views.items():
        signed_in.go(fragment)
        if moving := signed_in.page.evaluate(MOVING):
            found[name] = moving

    assert {} == found


@pytest.mark.costly
@pytest.mark.parametrize("zoom", first_of([4, 2]))
def test_an_enlarged_page_needs_no_scrolling_to_the_side(chromium, open_console, service, views, zoom):
    console = open_console(device_scale_factor=zoom)
    console.page.set_viewport_size({"width": 1280 // zoom, "height": 1024 // zoom})
    console.sign_in(service.admin)
    found = {}
    for name, fragment in views.items():
        console.go(fragment)
        if outside := console.page.evaluate(OUTSIDE):
            found[name] = outside
        assert (name, True) == (name, console.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))

    assert {} == found


@pytest.mark.costly
def test_a_page_that_is_older_than_the_service_says_so(open_console, service):
    console = open_console(is_first=True)
    console.expect("404")
    console.sign_in(service.admin, "#/collections")
    page = console.page
    page.route("**/views/tokens.js", lambda route: route.fulfill(status=404))
    page.route("**/ui/", lambda route: route.fulfill(body="<script src=00112233/main.js></script>"))
    page.evaluate("location.hash = '#/tokens'")
    expect(page.get_by_role("alert")).to_contain_text("frepo was updated")
    page.unroute_all()
    page.get_by_role("button", name="Read the page again").click()

    expect(page.get_by_role("heading", name="Tokens")).to_be_visible()


def test_a_token_that_ends_while_a_page_is_open_leads_to_the_sign_in(console, api):
    console.expect("401")
    token = api.token(Role.LIST_COLLECTIONS)
    console.sign_in(token, "#/collections")
    fingerprint = api("GET", "", token=token)["token"]["fingerprint"]
    api("DELETE", f"/tokens/{fingerprint}")
    refresh(console.page)

    expect(console.page.get_by_text("This token is not valid")).to_be_visible()
    assert 0 == eventually(0, lambda: console.page.evaluate("sessionStorage.length"))
    expect(console.page.locator("tbody")).to_have_count(0)


def test_a_page_outlives_a_restart_of_the_service(signed_in, service, world):
    signed_in.expect("ERR_")
    page = signed_in.page
    signed_in.go("#/collections?q=shop")
    service.stop()
    refresh(page)
    expect(page.get_by_role("alert").first).to_contain_text("The service does not answer")
    expect(page.locator("tbody tr")).to_have_count(1)
    service.start()
    refresh(page)

    expect(page.get_by_role("alert")).to_have_count(0)
    signed_in.go("#/tokens")


@pytest.mark.costly
def test_two_tabs_do_not_disturb_each_other(open_console, service, world, api):
    first, second = open_console(), open_console()
    first.sign_in(service.admin, "#/collections?state=overdue")
    second.sign_in(api.token(Role.LIST_COLLECTIONS, Role.VIEW_ALL_COLLECTIONS), "#/collections?q=shop")
    expect(first.page.get_by_role("link", name="Tokens")).to_be_visible()
    expect(second.page.get_by_role("link", name="Tokens")).to_have_count(0)
    second.page.get_by_role("button", name="Sign out").click()
    expect(second.page.get_by_role("heading", name="Sign in")).to_be_visible()
    first.page.reload()

    expect(first.page).to_have_url(re.compile(re.escape("#/collections?state=overdue") + "$"))
    expect(first.page.get_by_role("link", name="Tokens")).to_be_visible()


def test_the_tab_that_is_shown_is_in_sight_on_a_phone(signed_in, world):
    signed_in.page.set_viewport_size({"width": 390, "height": 844})
    page = open_collection(signed_in, world, "shop.sql.gz", tab="send")

    tab = page.get_by_role("navigation", name="Sections").locator("[aria-current]")
    expect(tab).to_have_text("Send backups here")
    box = tab.bounding_box()
    assert (box["x"] >= 0, box["x"] + box["width"] <= 390) == (True, True)
    assert page.evaluate("scrollY") == 0
    page.set_viewport_size({"width": 1300, "height": 900})
