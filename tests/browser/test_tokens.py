"""The view Tokens: who was here last; create, rotate and revoke."""

import re

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role
from support.scale import first_of

from .test_overview import FAILS

PAYLOAD = "<img src=x onerror=alert(1)>\"'&"


@pytest.fixture(scope="module")
def collection(api):
    return api("POST", "/collections", {"name": "shop.sql.gz"})


def panel(console):
    return console.page.locator("aside")


def created(console, api):
    """The secret that is shown, and the token to which it belongs."""
    secret = panel(console).locator("output").inner_text()
    return secret, api("GET", "", token=secret)["token"]


def test_a_token_that_sends_backups_is_created_and_its_secret_shown_once(open_console, service, api, collection):
    console = open_console(permissions=["clipboard-read", "clipboard-write"])
    console.sign_in(service.admin, "#/tokens")
    page = console.page
    page.keyboard.press("n")
    page.get_by_label("Name", exact=True).fill("shop cron")
    page.get_by_label("To which collections?").fill("shop.sql.gz")
    page.get_by_label("To which collections?").press("Enter")
    expect(page.get_by_role("button", name="Remove shop.sql.gz")).to_be_visible()
    page.get_by_label("Only from these addresses").fill("10.0.0.1, 127.0.0.0/8")
    page.get_by_role("button", name="Create token").click()

    expect(page.get_by_text("Copy the secret now. It is not shown again.")).to_be_visible()
    secret, token = created(console, api)
    assert ["collections.upload_to_allowed_collections"] == token["roles"]
    assert ["10.0.0.1", "127.0.0.0/8"] == token["restrictions"]["ip_addresses"]
    expect(panel(console).locator("pre")).to_contain_text(collection["id"])
    page.keyboard.press("Escape")  # what is shown once stays
    page.get_by_role("button", name="Copy secret").click()
    assert secret == page.evaluate("navigator.clipboard.readText()")
    granted = api("GET", f"/collections/{collection['id']}/access")["items"]
    assert token["fingerprint"] in [one["fingerprint"] for one in granted]
    page.reload()
    expect(page.get_by_role("heading", name="shop cron")).to_be_visible()
    assert secret not in page.content()


@pytest.mark.costly
def test_a_token_names_the_one_that_made_it(signed_in, service, api):
    maker = api("POST", "/tokens", {"name": "rollout", "roles": ["security.administrator"]})
    made = api("POST", "/tokens", {"name": "db9", "roles": ["upload.all"]}, token=maker["secret"])
    signed_in.go(f"#/tokens/{made['fingerprint']}")
    expect(panel(signed_in).get_by_text(re.compile("created .* by rollout"))).to_be_visible()
    api("DELETE", f"/tokens/{maker['fingerprint']}")
    signed_in.page.reload()
    expect(panel(signed_in).get_by_text(re.compile(f"created .* by {maker['fingerprint']}"))).to_be_visible()


@pytest.mark.costly
def test_escape_closes_a_panel_and_the_focus_stays_in_the_list(signed_in, api):
    api("POST", "/tokens", {"name": "reader", "roles": ["upload.all"]})
    signed_in.go("#/tokens")
    row = signed_in.page.get_by_role("row").filter(has_text="reader")
    for open_it in (lambda: row.focus() or row.press("Enter"), lambda: row.get_by_role("link", name="reader").click()):
        open_it()
        expect(panel(signed_in).get_by_role("heading", name="reader")).to_be_visible()
        panel(signed_in).get_by_role("button", name="Rotate").focus()
        signed_in.page.keyboard.press("Escape")
        expect(panel(signed_in)).to_have_count(0)
        assert row.evaluate("(row) => row.contains(document.activeElement)")


@pytest.mark.costly
def test_codes_that_no_host_has_used_are_listed_and_revoked(signed_in, api, collection):
    for name in ("db7", "db8"):
        api("POST", "/enrolments", {"name": name, "collections": [collection["id"]]})
    signed_in.go("#/tokens")
    codes = signed_in.page.get_by_role("region", name="Servers that are not enrolled yet")
    expect(codes.get_by_text("db8")).to_be_visible()
    expect(codes.get_by_text("shop.sql.gz")).to_have_count(2)
    codes.get_by_role("button", name="Revoke the code of db8").click()

    expect(codes.get_by_text("db8")).to_have_count(0)
    expect(codes.get_by_text("db7")).to_be_visible()
    assert ["db7"] == [one["name"] for one in api("GET", "/enrolments")["items"]]
    codes.get_by_role("button", name="Revoke the code of db7").click()
    expect(codes).to_have_count(0)


@pytest.mark.costly
def test_enter_after_a_name_that_was_added_while_it_was_typed_does_not_send_the_form(signed_in, api, collection):
    signed_in.go("#/tokens/new")
    page = signed_in.page
    page.get_by_label("Name", exact=True).fill("too early")
    expect(page.locator("#collection-names option")).not_to_have_count(0)
    page.get_by_label("To which collections?").fill(collection["name"])
    expect(page.get_by_role("button", name=f"Remove {collection['name']}")).to_be_visible()
    page.get_by_label("To which collections?").press("Enter")

    page.wait_for_timeout(500)
    expect(page.get_by_role("button", name="Create token")).to_be_enabled()
    assert "too early" not in [token["name"] for token in api("GET", "/tokens")["items"]]


@pytest.mark.costly
def test_a_collection_that_was_typed_and_not_added_is_named(signed_in, api):
    signed_in.go("#/tokens/new")
    page = signed_in.page
    page.get_by_label("Name", exact=True).fill("too soon")
    page.get_by_label("To which collections?").fill("shop")
    page.get_by_role("button", name="Create token").click()

    expect(page.get_by_text("“shop” is not added yet: press Enter, or clear the field")).to_be_visible()
    page.get_by_label("To which collections?").fill("")
    page.get_by_role("button", name="Create token").click()
    expect(panel(signed_in).locator("output")).to_be_visible()
    assert ["too soon"] == [token["name"] for token in api("GET", "/tokens")["items"] if token["name"] == "too soon"]


@pytest.mark.costly
def test_a_collection_that_cannot_be_looked_up_says_why(signed_in, collection):
    signed_in.expect("503")
    signed_in.go("#/tokens/new")
    page = signed_in.page
    page.route("**/api/v1/collections?*", lambda route: route.fulfill(**FAILS))
    field = page.get_by_label("To which collections?")
    field.fill("shop.sql")
    field.press("Enter")
    expect(panel(signed_in).get_by_text("The service answered 503")).to_be_visible()
    page.unroute("**/api/v1/collections?*")
    field.press("Enter")

    expect(page.get_by_role("button", name="Remove shop.sql.gz")).to_be_visible()


@pytest.mark.costly
def test_wrong_values_are_named_at_their_fields(signed_in):
    signed_in.expect("400")
    signed_in.go("#/tokens/new")
    page = signed_in.page
    page.get_by_role("button", name="Create token").click()
    expect(page.get_by_text("A name says later who uses the token")).to_be_visible()
    page.get_by_label("Name", exact=True).fill("nobody")
    page.get_by_label("Only from these addresses").fill("10.20.4.300")
    page.get_by_role("button", name="Create token").click()

    field = page.get_by_label("Only from these addresses")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".err").first).to_contain_text("10.20.4.300")


@pytest.mark.costly
def test_single_roles_are_chosen(signed_in, api):
    signed_in.go("#/tokens/new")
    page = signed_in.page
    page.get_by_label("Name", exact=True).fill("eyes")
    page.get_by_text("Custom", exact=True).click()
    page.get_by_text(Role.VIEW_EVENTS.value).click()
    page.get_by_role("button", name="Create token").click()

    expect(panel(signed_in).locator("output")).to_be_visible()
    assert [Role.VIEW_EVENTS] == created(signed_in, api)[1]["roles"]


@pytest.mark.costly
def test_the_texts_of_roles_are_those_of_the_service(signed_in):
    signed_in.go("#/tokens/new")
    signed_in.page.get_by_text("Custom", exact=True).click()

    expect(signed_in.page.locator("fieldset code")).to_have_text([role.value for role in Role])


def test_a_token_is_rotated_with_an_overlap_and_revoked(signed_in, api):
    old = api.token(Role.LIST_COLLECTIONS, name="rotating")
    fingerprint = api("GET", "", token=old)["token"]["fingerprint"]
    signed_in.go(f"#/tokens/{fingerprint}")
    page = signed_in.page
    page.get_by_role("button", name="Rotate").click()
    page.get_by_role("dialog").get_by_label("Overlap").select_option("P7D")
    page.get_by_role("dialog").get_by_role("button", name="Rotate").click()
    expect(page.get_by_text(f"The old token {fingerprint} ends")).to_be_visible()
    _, token = created(signed_in, api)
    assert api("GET", f"/tokens/{fingerprint}")["expires_at"] is not None

    signed_in.go(f"#/tokens/{fingerprint}")
    page.get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    names = [one["fingerprint"] for one in api("GET", "/tokens")["items"]]
    assert fingerprint not in names
    assert token["fingerprint"] in names


@pytest.mark.costly
def test_what_ends_with_a_token_is_named_before(signed_in, api):
    old = api.token(Role.LIST_COLLECTIONS, name="chain")
    new = api("POST", "/tokens/self/rotate", {}, token=old)["fingerprint"]
    fingerprint = api("GET", "", token=old)["token"]["fingerprint"]
    signed_in.go(f"#/tokens/{fingerprint}")
    dialog = signed_in.page.get_by_role("dialog")
    for button in ("Edit", "Rotate", "Revoke"):
        signed_in.page.get_by_role("button", name=button, exact=True).click()
        expect(dialog.get_by_text(new)).to_be_visible()
        dialog.get_by_role("button", name="Cancel").click()
    signed_in.page.get_by_role("button", name="Rotate", exact=True).click()
    dialog.get_by_role("button", name="Rotate").click()

    expect(signed_in.page.get_by_text(f"So do those that it has made by replacing itself: {new}")).to_be_visible()


@pytest.mark.costly
def test_a_token_is_edited(signed_in, api):
    secret = api.token(Role.LIST_COLLECTIONS, name="before", restrictions={"tags": ["web"]})
    fingerprint = api("GET", "", token=secret)["token"]["fingerprint"]
    signed_in.expect("400")
    signed_in.go(f"#/tokens/{fingerprint}")
    page = signed_in.page
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog", name="Edit before")
    dialog.get_by_label("Name", exact=True).fill("after")
    dialog.get_by_label("Only from these addresses").fill("10.0.0.0/8, 10.20.4.300")
    dialog.get_by_label("Only User-Agents").fill("curl/*\nMozilla/5.0 (X11; Linux), one")
    dialog.get_by_label("Files of at most").fill("20 MB")
    dialog.get_by_label("Expires").fill("2031-05-04T03:02")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Only from these addresses")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Only from these addresses").fill("10.0.0.0/8")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("heading", name="after")).to_be_visible()
    expect(page.locator("tbody")).to_contain_text("after")

    edited = api("GET", f"/tokens/{fingerprint}")
    assert ("after", "2031-05-04T03:02:00Z") == (edited["name"], edited["expires_at"])
    assert edited["restrictions"] == {
        "ip_addresses": ["10.0.0.0/8"],
        "user_agents": ["curl/*", "Mozilla/5.0 (X11; Linux), one"],
        "tags": ["web"],
        "mime_types": [],
        "max_file_size": 20_000_000,
    }
    page.get_by_role("button", name="Edit").click()
    assert [] == signed_in.violations()


@pytest.mark.costly
def test_the_list_is_filtered_and_sorted_by_the_address(signed_in, api):
    api.token(Role.LIST_COLLECTIONS, name="needle")
    signed_in.go("#/tokens?q=needle&sort=-last_used_at")
    rows = signed_in.page.locator("tbody tr")

    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("never")
    expect(signed_in.page.get_by_role("columnheader", name="Last used")).to_have_attribute("aria-sort", "descending")
    signed_in.page.get_by_label("Search names").fill("no such token")
    expect(signed_in.page.get_by_text("No token matches")).to_be_visible()
    signed_in.page.get_by_role("link", name="Clear filters").click()
    expect(signed_in.page.locator("tbody tr").first).to_be_visible()


@pytest.mark.costly
def test_who_may_only_list_tokens_is_offered_nothing_else(console, api):
    console.sign_in(api.token(Role.LIST_TOKENS, name="lister"), "#/tokens?q=lister")
    page = console.page
    page.locator("tbody a").first.click()
    expect(page.get_by_role("heading", name="lister")).to_be_visible()

    for absent in (page.get_by_text("New token"), page.get_by_role("button", name="Revoke")):
        expect(absent).to_have_count(0)
    console.go("#/events")
    expect(page.get_by_text("This token may not see this")).to_be_visible()


@pytest.mark.costly
@pytest.mark.parametrize(("theme", "width"), first_of([("dark", "phone"), ("light", "wide")]))
def test_axe_finds_nothing_and_names_are_only_texts(open_console, service, api, theme, width):
    secret = api.token(Role.LIST_COLLECTIONS, name=PAYLOAD, restrictions={"user_agents": [PAYLOAD]})
    fingerprint = api("GET", "", token=api.token(Role.ADMINISTRATOR))["token"]["fingerprint"]
    console = open_console(theme=theme, width=width)
    console.sign_in(service.admin, f"#/tokens?q={'img'}")
    expect(console.page.locator("tbody tr").first).to_contain_text(PAYLOAD)
    console.page.locator("tbody a").first.click()
    expect(console.page.get_by_role("heading", name=re.compile("img"))).to_be_visible()
    assert [] == console.violations()
    for fragment in ("#/tokens", "#/tokens/new", f"#/tokens/{fingerprint}"):
        console.go(fragment)
        assert [] == console.violations()
    assert secret
