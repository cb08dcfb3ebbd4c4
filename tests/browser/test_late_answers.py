"""Lists that are read again: answers that come late or not at all, and rows that were asked for by "Show more"."""

import re

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

from .conftest import MERGE_PATCH, open_collection
from .test_overview import FAILS
from .test_states import refresh

pytestmark = pytest.mark.costly

# Those of the table: the first hundred, and one hundred more.
LIST_OF_VERSIONS = re.compile(r"/versions\?.*limit=(30|60)")
SINCE = re.compile(r"/events\?.*since=([^&]*)")
# What a timer of a view does that has not heard yet that the session is over.
READ_AFTER_SIGN_OUT = """async () => {
  const api = await import(document.querySelector("script[type=module]").src.replace("main.js", "lib/api.js"));
  api.signOut();
  return api.read("/collections").catch((error) => error.status);
}"""


def hold_refresh(page, url):
    """Let the view read its data again; return the route of that request, which waits for its answer."""
    held = []
    page.route(url, lambda route: route.continue_() if held else held.append(route))
    with page.expect_request(url):
        refresh(page)
    while not held:
        page.wait_for_timeout(20)
    return held[0]


def since_of(request):
    return SINCE.search(request.url)[1]


def test_a_late_answer_does_not_replace_a_newer_one(signed_in):
    signed_in.expect("503")
    page = signed_in.page
    signed_in.go("#/tokens")
    held = hold_refresh(page, "**/api/v1/tokens?**")
    with page.expect_response("**/api/v1/tokens?**"):
        refresh(page)
    held.fulfill(status=503, body="{}", content_type="application/problem+json")
    signed_in.settle()

    expect(page.get_by_role("alert")).to_have_count(0)


@pytest.fixture(scope="module")
def edited(world, api):
    """Return the id of a collection with more than fifty events."""
    collection = world["late.tar"]
    for number in range(60):
        api("PATCH", f"/collections/{collection}", {"description": f"edit {number}"}, MERGE_PATCH)
    return collection


def test_more_rows_stay_when_an_earlier_reading_ends_late(signed_in, edited):
    page = signed_in.page
    signed_in.go(f"#/collections/{edited}/events")
    later = page.locator("ul.list > li").nth(55)
    held = hold_refresh(page, "**/api/v1/events?**")
    page.get_by_role("button", name="Show more").click()
    later.wait_for()
    held.continue_()
    signed_in.settle()
    expect(later).to_be_visible()
    refresh(page)
    signed_in.settle()

    expect(later).to_be_visible()


def test_more_rows_that_cannot_be_read_are_named(signed_in, edited):
    signed_in.expect("503")
    page = signed_in.page
    signed_in.go("#/events")
    more = page.get_by_role("button", name="Show more")
    page.route("**/api/v1/events?*limit=100*", lambda route: route.fulfill(status=503, body="{}"))
    more.click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.locator(".list-end")).to_contain_text("The service answered 503")
    page.unroute("**/api/v1/events?*limit=100*")
    more.click()

    expect(page.locator("ul.list > li").nth(55)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_try_now_repeats_the_request_for_more_rows(signed_in, edited):
    signed_in.expect("503")
    page = signed_in.page
    signed_in.go("#/events")
    page.route("**/api/v1/events?*", lambda route: route.fulfill(status=503, body="{}"))
    page.get_by_role("button", name="Show more").click()
    expect(page.get_by_role("alert")).to_be_visible()
    with page.expect_response("**/api/v1/events?*"):  # what the list reads by itself fails, too
        refresh(page)
    page.unroute("**/api/v1/events?*")
    page.get_by_role("button", name="Try now").click()

    expect(page.locator("ul.list > li").nth(55)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_more_rows_stay_when_the_period_of_the_list_moves_on(open_console, service, edited):
    console = open_console(script="window.ahead = 0; const clock = Date.now; Date.now = () => clock() + ahead")
    console.sign_in(service.admin, "#/events?days=7")
    page = console.page
    page.get_by_role("button", name="Show more").click()
    later = page.locator("ul.list > li").nth(55)
    later.wait_for()
    with page.expect_request("**/api/v1/events?**") as before:
        refresh(page)
    console.settle()
    page.evaluate("ahead = 3600_000")
    with page.expect_request(lambda one: SINCE.search(one.url) and since_of(one) > since_of(before.value)):
        for _ in range(2):  # the answer to the first one draws the view, which knows the next hour from then on
            refresh(page)
            console.settle()

    expect(later).to_be_visible()


@pytest.fixture(scope="module")
def many(api):
    """Return the id of a collection with more than a hundred versions, of which the page shows thirty."""
    made = api("POST", "/collections", {"name": "many.bin", "limits": {"versions": 200}})["id"]
    for number in range(1, 106):
        api("PUT", f"/collections/{made}/versions", b"version %d" % number)
    return made


@pytest.mark.parametrize("is_more_last", [True, False])
def test_a_deleted_row_is_gone_whatever_ends_last(signed_in, api, many, is_more_last):
    page, held = signed_in.page, []
    newest = api("GET", f"/collections/{many}")["last_version"]["number"]
    signed_in.go(f"#/collections/{many}/versions")
    row = page.get_by_role("button", name=f"Delete version {newest}", exact=True)
    row.wait_for()
    signed_in.settle()

    def hold(route):
        """Ask the service now, and answer later."""
        if len(held) == 2:
            return route.continue_()
        held.append([route])
        return held[-1].append(route.fetch())

    page.route(LIST_OF_VERSIONS, hold)
    with page.expect_request(LIST_OF_VERSIONS):
        page.get_by_role("button", name="Show more").click()
    row.click()
    with page.expect_request(LIST_OF_VERSIONS):
        page.get_by_role("dialog").get_by_role("button").last.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    while [2, 2] != [len(one) for one in held]:
        page.wait_for_timeout(20)
    for route, answer in held[::-1] if is_more_last else held:
        with page.expect_response(LIST_OF_VERSIONS):
            route.fulfill(response=answer)
    signed_in.settle()

    expect(row).to_have_count(0)
    expect(page.get_by_role("button", name=f"Delete version {newest - 60}", exact=True)).to_have_count(1)


def test_a_good_answer_is_shown_after_a_later_reading_failed(signed_in, world):
    signed_in.expect("503")
    page, held = signed_in.page, []
    page.route(
        "**/api/v1/tokens?**",
        lambda route: route.fulfill(status=503, body="{}") if held else held.append(route),
    )
    with page.expect_request("**/api/v1/tokens?**"):
        page.evaluate("location.hash = '#/tokens'")
    refresh(page)
    expect(page.get_by_role("alert")).to_be_visible()
    held[0].continue_()

    expect(page.locator("tbody tr").first).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_an_answer_that_is_no_json_does_not_end_polling(signed_in):
    page = signed_in.page
    signed_in.go("#/tokens")
    page.route("**/api/v1/tokens?**", lambda route: route.fulfill(status=200, body="<html>"))
    refresh(page)
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/api/v1/tokens?**")

    expect(page.get_by_role("alert")).to_have_count(0, timeout=20_000)


def test_a_late_answer_does_not_belong_to_the_next_filter(signed_in, world):
    page = signed_in.page
    signed_in.go("#/collections?q=shop")
    held = hold_refresh(page, "**/api/v1/collections?**")
    with page.expect_response("**/api/v1/collections?**"):
        page.evaluate("location.hash = '#/collections?q=mail'")
    held.continue_()
    signed_in.settle()

    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("mail.tar")


def test_a_late_refusal_of_the_last_token_does_not_end_the_next_session(signed_in, api):
    signed_in.expect("401")
    page = signed_in.page
    signed_in.go("#/tokens")
    held = hold_refresh(page, "**/api/v1/tokens?**")
    token = api.token(Role.LIST_TOKENS)
    page.evaluate("(token) => { location.hash = `#token=${token}` }", token)
    page.get_by_role("button", name="Sign in with the link").click()
    expect(page.get_by_role("link", name="Tokens")).to_be_visible()
    expect(page.get_by_role("link", name="Events")).to_have_count(0)
    with page.expect_response("**/api/v1/tokens?**"):
        held.fulfill(status=401, body="{}", content_type="application/problem+json")
    signed_in.settle()

    expect(page.get_by_role("link", name="Tokens")).to_be_visible()
    assert token == page.evaluate("sessionStorage.getItem('frepo.token')")


def test_nothing_is_sent_when_the_session_has_ended(signed_in):
    page = signed_in.page
    urls = []
    page.on("request", lambda request: urls.append(request.url))

    assert 401 == page.evaluate(READ_AFTER_SIGN_OUT)
    assert [] == [url for url in urls if "/api/" in url]


def test_a_use_of_a_token_that_is_not_known_is_not_called_never(signed_in, world, api):
    page = signed_in.page
    fingerprint = api("GET", "", token=api.token(Role.UPLOAD_ALL))["token"]["fingerprint"]
    api("PUT", f"/collections/{world['mail.tar']}/access/{fingerprint}")
    page.route("**/api/v1/tokens?*", lambda route: route.fulfill(json={"items": [], "next": None}))
    open_collection(signed_in, world, "mail.tar", "access")
    row = page.locator("tbody tr", has_text=fingerprint)
    expect(row).to_be_visible()

    expect(row.get_by_role("cell").nth(3)).to_have_text("")


def test_uses_of_tokens_that_cannot_be_read_are_an_error(signed_in, world):
    signed_in.expect("503")
    page = signed_in.page
    page.route("**/api/v1/tokens?*", lambda route: route.fulfill(**FAILS))
    open_collection(signed_in, world, "mail.tar", "access")
    expect(page.get_by_role("alert")).to_contain_text("(503)")
    page.unroute("**/api/v1/tokens?*")
    page.get_by_role("button", name="Try now").click()

    expect(page.get_by_role("alert")).to_have_count(0)
    expect(page.get_by_role("columnheader", name="Last used")).to_be_visible()


def test_checks_that_cannot_be_read_do_not_count_as_missing(signed_in, world):
    signed_in.expect("503")
    page = signed_in.page
    page.route("**/checks", lambda route: route.fulfill(**FAILS))
    open_collection(signed_in, world, "mail.tar")
    page.get_by_role("button", name="Version 3: details").click()
    shown = page.get_by_role("dialog", name="Version 3 of mail.tar")
    expect(shown.get_by_role("alert")).to_contain_text("(503)")
    found = shown.locator("dd li b", has_text="integrity")
    expect(found).to_have_count(0)
    expect(shown.locator(".faint", has_text="not checked")).to_have_count(0)
    page.unroute("**/checks")
    shown.get_by_role("button", name="Try now").click()

    expect(shown.get_by_role("alert")).to_have_count(0)
    expect(found).to_be_visible()
    shown.get_by_role("button", name="Close").click()
    expect(shown).to_have_count(0)
