"""An answer that comes late, after the view has read its data again, or was given other rows."""

from playwright.sync_api import expect

from .test_states import MERGE_PATCH, refresh


def test_a_late_answer_does_not_replace_a_newer_one(signed_in):
    signed_in.expect("503")
    page = signed_in.page
    signed_in.go("#/tokens")
    held = []
    page.route("**/api/v1/tokens?**", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/api/v1/tokens?**"):
        refresh(page)
    with page.expect_response("**/api/v1/tokens?**"):
        refresh(page)
    held[0].fulfill(status=503, body="{}", content_type="application/problem+json")
    signed_in.settle()

    expect(page.get_by_role("alert")).to_have_count(0)


def test_more_rows_stay_when_an_earlier_reading_ends_late(signed_in, world, api):
    collection = world["late.tar"]
    for number in range(60):
        api("PATCH", f"/collections/{collection}", {"description": f"edit {number}"}, MERGE_PATCH)
    page = signed_in.page
    signed_in.go(f"#/collections/{collection}/events")
    later = page.locator("ul.list > li").nth(55)
    held = []
    page.route("**/api/v1/events?**", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/api/v1/events?**"):
        refresh(page)
    page.get_by_role("button", name="Show more").click()
    later.wait_for()
    held[0].continue_()
    signed_in.settle()
    expect(later).to_be_visible()
    refresh(page)
    signed_in.settle()

    expect(later).to_be_visible()


def test_more_rows_that_cannot_be_read_are_named(signed_in, world, api):
    signed_in.expect("503")
    page = signed_in.page
    signed_in.go("#/events")
    more = page.get_by_role("button", name="Show more")
    page.route("**/api/v1/events?*cursor*", lambda route: route.fulfill(status=503, body="{}"))
    more.click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/api/v1/events?*cursor*")
    more.click()

    expect(page.locator("ul.list > li").nth(55)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_a_late_answer_does_not_belong_to_the_next_filter(signed_in, world):
    page = signed_in.page
    signed_in.go("#/collections?q=shop")
    held = []
    page.route("**/api/v1/collections?**", lambda route: route.continue_() if held else held.append(route))
    with page.expect_request("**/api/v1/collections?**"):
        refresh(page)
    with page.expect_response("**/api/v1/collections?**"):
        page.evaluate("location.hash = '#/collections?q=mail'")
    held[0].continue_()
    signed_in.settle()

    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("mail.tar")
