"""The frame of the console: sign-in, menu, shortcuts, themes, a missing service; and the page of the API."""

import re
import tomllib

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role
from support.paths import ROOT
from support.wire import eventually

from .test_overview import FAILS

SIZE_TEXTS = """async (sizes) => {
  const { size } = await import(document.querySelector("script[type=module]").src.replace("main.js", "lib/format.js"));
  return sizes.map(size);
}"""


def test_the_token_of_a_link_signs_in_and_leaves_the_address_bar(console, service):
    console.page.goto(f"{console.url}#token={service.admin}")
    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()

    assert service.admin not in console.page.url
    console.go("#/collections")
    console.page.go_back()
    assert service.admin not in console.page.url
    assert service.admin not in console.page.evaluate("document.documentElement.outerHTML")
    assert "" == console.page.evaluate("document.cookie")
    console.page.reload()
    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()


def test_sizes_have_the_form_that_commands_and_the_client_have(console):
    examples = tomllib.loads((ROOT / "tests/support/sizes.toml").read_text())["examples"]
    console.page.goto(console.url)

    assert [text for _, text in examples] == console.page.evaluate(SIZE_TEXTS, [size for size, _ in examples])


@pytest.mark.costly
def test_a_token_is_typed_and_forgotten_on_reload_if_the_person_says_so(console, service):
    console.page.goto(console.url)
    console.page.get_by_label("Token", exact=True).fill(service.admin)
    console.page.get_by_label("Forget the token").check()
    console.page.get_by_role("button", name="Sign in").click()
    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()

    assert 0 == console.page.evaluate("sessionStorage.length + localStorage.length")
    console.page.reload()
    expect(console.page.get_by_role("heading", name="Sign in")).to_be_visible()


def test_a_wrong_token_is_refused_at_its_field(console):
    console.expect("401")
    console.page.goto(console.url)
    field = console.page.get_by_label("Token", exact=True)
    field.fill("nobody")
    field.press("Enter")

    expect(console.page.get_by_text("This token is not valid")).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")


@pytest.mark.costly
def test_a_revoked_token_leads_back_to_the_sign_in(console, api):
    console.expect("401")
    token = api.token(Role.LIST_COLLECTIONS)
    console.sign_in(token)
    fingerprint = api("GET", "", token=token)["token"]["fingerprint"]
    api("DELETE", f"/tokens/{fingerprint}")
    console.page.reload()

    expect(console.page.get_by_text("This token is not valid")).to_be_visible()
    assert 0 == eventually(0, lambda: console.page.evaluate("sessionStorage.length"))


@pytest.mark.costly
def test_signing_out_forgets_the_token(signed_in):
    signed_in.page.get_by_role("button", name="Sign out").click()

    expect(signed_in.page.get_by_role("heading", name="Sign in")).to_be_visible()
    assert 0 == eventually(0, lambda: signed_in.page.evaluate("sessionStorage.length"))


@pytest.mark.costly
def test_the_menu_is_reached_by_the_keyboard_alone(signed_in):
    page = signed_in.page
    page.keyboard.press("g")
    page.keyboard.press("c")
    expect(page.get_by_role("link", name="Collections").first).to_have_attribute("aria-current", "page")

    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.go_back()
    expect(page.get_by_role("link", name="Overview").first).to_have_attribute("aria-current", "page")


@pytest.mark.costly
def test_shortcuts_of_letters_can_be_switched_off(signed_in):
    page = signed_in.page
    page.keyboard.press("?")
    page.get_by_label("Use shortcuts of single letters").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")

    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.costly
def test_the_theme_is_chosen_and_kept(signed_in):
    page = signed_in.page
    page.get_by_role("button", name="Light or dark").click()
    page.get_by_role("button", name="Light", exact=True).click()
    page.reload()

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.mark.costly
def test_an_unknown_address_says_so(signed_in):
    signed_in.page.evaluate("location.hash = '#/nothing'")

    expect(signed_in.page.get_by_role("heading", name="This page does not exist").first).to_be_visible()


@pytest.mark.parametrize(
    ("roles", "entries"), [([Role.UPLOAD_ALL], ["files"]), ([Role.LIST_COLLECTIONS], ["overview", "collections"])]
)
def test_the_menu_has_only_what_the_token_may_see(console, api, roles, entries):
    console.sign_in(api.token(*roles))

    links = [link.get_attribute("href") for link in console.page.get_by_role("navigation").get_by_role("link").all()]
    assert [f"#/{entry}" for entry in entries] == [link for link in links if link.startswith("#/")]


def test_a_service_that_does_not_answer_is_tried_again(console, service):
    console.expect("503", "ERR_")
    answers = {"status": 503, "body": "{}", "content_type": "application/problem+json"}
    console.page.route("**/api/v1", lambda route: route.fulfill(**answers))
    console.page.goto(f"{console.url}#token={service.admin}")
    expect(console.page.get_by_text("The service does not answer (503)")).to_be_visible()
    console.page.unroute("**/api/v1")
    console.page.get_by_role("button", name="Try now").click()

    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()


@pytest.mark.costly
@pytest.mark.parametrize("is_loaded_again", [False, True], ids=["same page", "loaded again"])
def test_a_link_asks_before_it_replaces_a_session(signed_in, service, api, is_loaded_again):
    page, other = signed_in.page, api.token(Role.UPLOAD_ALL)
    kept = "sessionStorage.getItem('frepo.token')"

    def open_link():
        if is_loaded_again:
            page.goto("about:blank")
        page.goto(f"{signed_in.url}#token={other}")

    open_link()
    expect(page.get_by_role("dialog")).to_contain_text("You are signed in already")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    assert (service.admin, False) == (page.evaluate(kept), other in page.url)

    open_link()
    page.get_by_role("button", name="Sign in with the link").click()
    expect(page.get_by_role("dialog")).to_have_count(0)

    assert (other, False) == (page.evaluate(kept), other in page.url)


@pytest.mark.costly
def test_a_link_with_the_token_of_the_session_asks_nothing(signed_in, service):
    signed_in.page.goto(f"{signed_in.url}#token={service.admin}")
    signed_in.settle()

    assert (0, False) == (signed_in.page.get_by_role("dialog").count(), "token=" in signed_in.page.url)


@pytest.mark.costly
def test_the_menu_says_if_it_cannot_count_what_needs_attention(console, service):
    console.expect("503")
    console.page.route("**/api/v1/overview", lambda route: route.fulfill(**FAILS))
    console.sign_in(service.admin, "#/tokens")

    expect(console.page.get_by_role("link", name="Collections").get_by_title("cannot be read")).to_have_text("?")


@pytest.mark.costly
def test_pages_of_plugins_are_in_the_menu(console, service, api):
    about = api("GET", "") | {"pages": [{"title": "Paint <b>it</b>", "path": "/paint/"}]}
    console.page.route("**/api/v1", lambda route: route.fulfill(json=about))
    console.sign_in(service.admin)

    expect(console.page.get_by_role("link", name="Paint <b>it</b>")).to_have_attribute("href", "../paint/")


@pytest.mark.costly
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_sign_in(open_console, theme):
    console = open_console(theme=theme)
    console.page.goto(console.url)
    console.page.wait_for_selector("h1")

    assert [] == console.violations()


STORED = "() => [document.cookie, localStorage.length + sessionStorage.length]"


def operation(page, name):
    return page.locator(f".opblock[id$='-{name}']")


def try_it(page, name):
    """Send the request of an operation from the page; return the status of the answer."""
    block = operation(page, name)
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    return block.locator(".live-responses-table tbody .response-col_status")


@pytest.mark.costly
def test_search_and_try_it_with_a_token_that_stays_in_the_page(console, service):
    page = console.page
    console.expect("Deprecated: escaping deep link whitespace")  # Swagger UI says this about its own links
    page.goto(f"{service.url}/api/v1/doc")

    # The endpoints begin on the first screen; the guide is above them, folded.
    expect(operation(page, "show_service")).to_be_in_viewport()
    guide = page.locator(".info .renderedMarkdown").first
    expect(guide).to_be_hidden()
    page.get_by_role("button", name="Read the guide").click()
    expect(guide).to_contain_text("Authorization: Bearer")
    colours = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colours)
    page.emulate_media(color_scheme="dark")
    expect(page.locator("html")).to_have_class(re.compile("dark-mode"))
    assert light != page.evaluate(colours)
    page.emulate_media(color_scheme="light")
    expect(page.get_by_role("link", name="frepo")).to_be_visible()
    assert guide.bounding_box()["y"] < operation(page, "show_service").bounding_box()["y"]

    # The search looks at the texts of operations, too.
    search = page.get_by_label("Search paths and descriptions")
    search.fill("OVERLAP")
    expect(page.locator(".opblock")).to_have_count(1)
    expect(operation(page, "rotate_token")).to_be_visible()
    search.fill("who am i")
    expect(page.locator(".opblock")).to_have_count(1)

    page.locator(".auth-wrapper .authorize").first.click()
    page.locator(".auth-container input").first.fill(service.admin)
    page.locator(".auth-btn-wrapper .authorize").first.click()
    page.locator(".auth-btn-wrapper .btn-done").first.click()
    expect(try_it(page, "show_service")).to_contain_text("200")
    expect(operation(page, "show_service").locator(".live-responses-table")).to_contain_text("security.administrator")

    # Nothing of it is kept: after a reload, the page has no token.
    assert ["", 0] == page.evaluate(STORED)
    expect(page.locator(".auth-wrapper .authorize").first).to_have_class(re.compile(r"\blocked"))
    page.reload()
    expect(page.locator(".auth-wrapper .authorize").first).to_have_class(re.compile("unlocked"))
