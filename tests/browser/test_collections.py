"""Overview, collections and one collection: what they show, each action once, the keyboard, accessibility."""

import hashlib
import re
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

XSS = "<img src=x onerror=\"alert('xss')\">'\"><script>alert(1)</script>"
LABEL = "<svg onload=alert(1)>"
# The collection with the texts that must not become elements. A name of a file cannot have their characters.
NAME = "evil.sql.gz"


@pytest.fixture(scope="module")
def world(service, api):
    """Five collections in different states, with versions; return their ids by name."""
    ids = {}
    for name in ("shop.sql.gz", "mail.tar", "late.tar", "empty.zip", NAME):
        body = {"name": name, "labels": ["prod"], "expected_every": "P1D"}
        if name == NAME:
            body |= {"description": XSS, "labels": [LABEL]}
        ids[name] = api("POST", "/collections", body)["id"]
    for name in ("shop.sql.gz", "mail.tar", "late.tar", NAME):
        for number in (1, 2, 3):
            api("PUT", f"/collections/{ids[name]}/versions", name.encode() * 100 * number)
    long_ago = datetime.now(UTC) - timedelta(days=3)
    with sqlite3.connect(service.folder / "frepo.db") as database:
        due = [(long_ago + timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M:%S.%f") for hours in (0, 24, 26)]
        database.execute("UPDATE version SET created_at = ? WHERE collection_id = ?", (due[0], ids["mail.tar"]))
        database.execute(
            "UPDATE collection SET arrived_at = ?, due_at = ?, overdue_at = ? WHERE id = ?", (*due, ids["mail.tar"])
        )
    database.close()
    return ids


@pytest.fixture
def page(signed_in):
    return signed_in.page


def open_collection(console, world, name, tab=""):
    console.go(f"#/collections/{world[name]}{tab and '/' + tab}")
    return console.page


class TestOverview:
    def test_it_says_what_needs_attention_first(self, signed_in, world):
        signed_in.go("#/")
        page = signed_in.page

        expect(page.get_by_role("heading", level=1)).to_have_text("1 of 5 collections needs attention")
        first = page.locator(".tile").first
        expect(first).to_contain_text("mail.tar")
        expect(first).to_contain_text("No backup for 3 days")
        expect(page.get_by_role("heading", name="Last 24 hours")).to_be_visible()
        expect(page.get_by_text("12 backups arrived")).to_be_visible()

    def test_a_job_is_run_now(self, signed_in, world, api):
        signed_in.go("#/")
        signed_in.page.get_by_role("button", name="Run now samples").click()

        expect(signed_in.page.get_by_role("listitem").filter(has_text="samples")).to_be_visible()
        assert "samples" in {job["name"] for job in api("GET", "/jobs")["items"] if job["request"] or job["last_run"]}

    def test_a_token_that_may_only_list_collections_sees_them(self, open_console, world, api):
        console = open_console()
        console.sign_in(api.token(Role.LIST_COLLECTIONS, Role.VIEW_ALL_COLLECTIONS))

        expect(console.page.get_by_role("heading", level=1)).to_contain_text("1 of 5")
        expect(console.page.get_by_role("heading", name="Jobs")).to_have_count(0)


class TestList:
    def test_the_worst_is_first_and_filters_are_in_the_url(self, signed_in, world):
        signed_in.go("#/collections")
        page = signed_in.page
        expect(page.locator("tbody tr").first).to_contain_text("mail.tar")

        page.keyboard.press("/")
        page.keyboard.type("shop")
        expect(page.locator("tbody tr")).to_have_count(1)
        assert "q=shop" in page.url
        page.reload()
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.get_by_role("searchbox")).to_have_value("shop")

    def test_what_matches_nothing_says_so(self, signed_in, world):
        signed_in.go("#/collections?q=nothing&state=full")
        expect(signed_in.page.get_by_role("heading", name="Nothing matches “nothing”")).to_be_visible()
        signed_in.page.get_by_role("link", name="Clear filters").click()

        expect(signed_in.page.locator("tbody tr")).to_have_count(5)

    def test_rows_are_reached_by_the_keyboard(self, signed_in, world):
        signed_in.go("#/collections?q=mail")
        page = signed_in.page
        expect(page.locator("tbody tr")).to_have_count(1)
        page.locator("h1").click()
        page.keyboard.press("j")
        page.keyboard.press("x")
        expect(page.get_by_role("region", name="1 selected")).to_be_visible()
        page.keyboard.press("Enter")

        expect(page.get_by_role("heading", level=1)).to_have_text("mail.tar")

    def test_the_interval_of_several_is_changed(self, signed_in, world, api):
        signed_in.go("#/collections?q=late")
        page = signed_in.page
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_role("checkbox", name="Select late.tar").check()
        page.get_by_role("button", name="Expected interval").click()
        page.get_by_label("Expected every").fill("soon")
        page.get_by_role("button", name="Change 1 collection").click()
        expect(page.get_by_text("“soon” is not a duration")).to_be_visible()
        page.get_by_label("Expected every").fill("12 h")
        page.get_by_role("button", name="Change 1 collection").click()
        expect(page.get_by_role("dialog")).to_have_count(0)

        assert "PT12H" == api("GET", f"/collections/{world['late.tar']}")["expected_every"]

    def test_a_collection_is_created(self, signed_in, world, api):
        signed_in.go("#/collections")
        page = signed_in.page
        page.keyboard.press("n")
        page.get_by_label("Name", exact=True).fill("made.tar.gz")
        page.get_by_label("Labels").fill("prod, web")
        page.get_by_role("button", name="Create collection").click()
        expect(page.get_by_role("heading", name="made.tar.gz")).to_be_visible()

        [made] = api("GET", "/collections?q=made.tar.gz")["items"]
        assert (["prod", "web"], "P1D") == (made["labels"], made["expected_every"])
        api("DELETE", f"/collections/{made['id']}")

    def test_the_list_is_saved_as_csv(self, signed_in, world):
        signed_in.go("#/collections")
        with signed_in.page.expect_download() as download:
            signed_in.page.get_by_role("button", name="CSV").click()

        lines = download.value.path().read_text().splitlines()
        assert (6, "id,name,state") == (len(lines), lines[0][:13])


class TestOneCollection:
    def test_a_version_is_uploaded_and_compared(self, signed_in, world, api):
        page = open_collection(signed_in, world, "shop.sql.gz")
        page.get_by_role("button", name="Upload").click()
        content = b"a dump of the shop" * 1000
        page.set_input_files("input[type=file]", {"name": "x.gz", "mimeType": "application/gzip", "buffer": content})
        expect(page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()

        last = api("GET", f"/collections/{world['shop.sql.gz']}/versions/latest")
        assert hashlib.sha256(content).hexdigest() == last["sha256"]
        expect(page.locator("tbody tr").first).to_contain_text(str(last["number"]))

    def test_an_upload_is_tried_again_after_a_lost_connection(self, signed_in, world, api):
        signed_in.expect("ERR_")
        page = open_collection(signed_in, world, "late.tar")
        lost = []

        def lose_one(route):
            if lost:
                return route.continue_()
            lost.append(route)
            return route.abort("connectionreset")

        page.route("**/versions", lose_one)
        before = api("GET", f"/collections/{world['late.tar']}")["versions"]
        page.get_by_role("button", name="Upload").click()
        page.set_input_files("input[type=file]", {"name": "l.tar", "mimeType": "text/plain", "buffer": b"late" * 500})
        expect(page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()

        assert before + 1 == api("GET", f"/collections/{world['late.tar']}")["versions"]

    def test_a_refused_upload_stays_with_its_reason(self, signed_in, world, api):
        signed_in.expect("413")
        api("PATCH", f"/collections/{world['empty.zip']}", {"limits": {"version_size": 10}})
        page = open_collection(signed_in, world, "empty.zip")
        page.get_by_role("button", name="Upload").click()
        page.set_input_files("input[type=file]", {"name": "e.zip", "mimeType": "text/plain", "buffer": b"x" * 100})

        expect(page.get_by_role("alert")).to_contain_text("larger than the collection allows")
        expect(page.get_by_role("button", name="Retry")).to_be_visible()

    def test_a_version_is_downloaded_and_compared(self, open_console, service, world, api):
        console = open_console()
        console.page.add_init_script("delete window.showSaveFilePicker")
        console.sign_in(service.admin)
        page = open_collection(console, world, "mail.tar")
        with page.expect_download() as download:
            page.get_by_role("button", name="Download version 2").click()

        assert b"mail.tar" * 200 == download.value.path().read_bytes()
        assert "mail-v2.tar" == download.value.suggested_filename
        expect(page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()

    def test_a_version_is_deleted_after_a_question(self, signed_in, world, api):
        page = open_collection(signed_in, world, "mail.tar")
        page.get_by_role("button", name="Delete version 1").click()
        dialog = page.get_by_role("dialog", name="Delete version 1?")
        expect(dialog).to_contain_text("800 byte")
        dialog.get_by_role("button", name=re.compile("Delete 1 version|Move 1 to trash")).click()
        expect(page.locator("tbody tr")).to_have_count(2)

        numbers = [one["number"] for one in api("GET", f"/collections/{world['mail.tar']}/versions")["items"]]
        assert [3, 2] == numbers

    def test_a_version_is_pinned_by_a_key_and_gets_a_note(self, signed_in, world, api):
        page = open_collection(signed_in, world, "late.tar")
        row = page.locator("tbody tr").filter(has=page.get_by_role("button", name="Note of version 1"))
        row.focus()
        page.keyboard.press("p")
        expect(row).to_contain_text("Pinned")
        page.get_by_role("button", name="Note of version 1").click()
        page.get_by_label("Note", exact=True).fill("Before the move")
        page.get_by_role("button", name="Save").click()
        expect(row).to_contain_text("Before the move")

        version = api("GET", f"/collections/{world['late.tar']}/versions/v1")
        assert (True, "Before the move") == (version["pinned"], version["note"])
        page.get_by_role("button", name="Unpin version 1").click()
        expect(row).not_to_contain_text("Pinned")

    def test_a_version_in_quarantine_is_released(self, signed_in, world, api):
        collection = api("POST", "/collections", {"name": "small.tar", "guards": {"min_version_size": 100}})["id"]
        api("PUT", f"/collections/{collection}/versions", b"small")
        signed_in.go(f"#/collections/{collection}")
        page = signed_in.page
        expect(page.locator("tbody tr")).to_contain_text("Quarantined")
        page.get_by_role("button", name="Release version 1").click()
        expect(page.locator("tbody tr")).not_to_contain_text("Quarantined")

        assert 1 == api("GET", f"/collections/{collection}")["versions"]
        api("DELETE", f"/collections/{collection}/versions/v1")
        api("DELETE", f"/collections/{collection}")

    def test_settings_are_saved_and_errors_are_at_their_fields(self, signed_in, world, api):
        page = open_collection(signed_in, world, "shop.sql.gz", "settings")
        page.get_by_label("One version").fill("3 gigs")
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("“3 gigs” is not a size")).to_be_visible()
        page.get_by_label("One version").fill("3 GB")
        page.get_by_label("Description").fill("The shop")
        expect(page.get_by_text("2 changes not saved")).to_be_visible()
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("not saved")).to_have_count(0)

        saved = api("GET", f"/collections/{world['shop.sql.gz']}")
        assert (3_000_000_000, "The shop") == (saved["limits"]["version_size"], saved["description"])

    def test_access_is_granted_and_removed(self, signed_in, world, api):
        api.token(Role.UPLOAD_VERSIONS, name="cron of the shop")
        page = open_collection(signed_in, world, "shop.sql.gz", "access")
        page.get_by_role("button", name="Grant access").click()
        dialog = page.get_by_role("dialog")
        option = dialog.locator("option", has_text="cron of the shop").get_attribute("value")
        dialog.get_by_label("Token").select_option(option)
        dialog.get_by_role("button", name="Grant access").click()
        row = page.locator("tbody tr", has_text="cron of the shop")
        expect(row).to_contain_text("Send backups")
        row.get_by_role("button", name="Remove").click()
        page.get_by_role("button", name="Remove from the list").click()

        expect(row).to_have_count(0)

    def test_the_simulator_follows_the_rules_of_the_form(self, signed_in, world):
        page = open_collection(signed_in, world, "mail.tar", "settings")
        page.get_by_label("Which versions are kept").select_option("keep")
        page.get_by_label("For", exact=True).fill("10 weeks")
        for rule in ("Last", "Weekly", "Monthly"):
            page.get_by_label(rule, exact=True).fill("1")
        page.get_by_label("Daily, to drag").fill("14")
        expect(page.get_by_text(re.compile("Keeps 14 of 7[0-9] versions"))).to_be_visible()

        page.get_by_role("button", name="This collection").click()
        expect(page.get_by_text("The next upload would evict")).to_be_visible()

    def test_the_snippets_name_the_collection(self, signed_in, world):
        page = open_collection(signed_in, world, "shop.sql.gz", "send")
        for tool in ("cron", "systemd timer", "bahub", "newman", "curl"):
            page.get_by_role("button", name=tool, exact=True).click()
            expect(page.locator("pre")).to_contain_text(world["shop.sql.gz"])

    def test_its_events_are_shown(self, signed_in, world):
        page = open_collection(signed_in, world, "mail.tar", "events")

        expect(page.get_by_text("Version 3 received")).to_be_visible()

    def test_a_collection_that_is_gone_says_so(self, signed_in, world):
        signed_in.expect("404")
        signed_in.go("#/collections/00000000-0000-4000-8000-000000000000")

        expect(signed_in.page.get_by_role("heading", name="This collection does not exist").first).to_be_attached()

    def test_a_token_is_offered_only_what_it_may_do(self, open_console, world, api):
        console = open_console()
        roles = (Role.LIST_COLLECTIONS, Role.VIEW_ALL_COLLECTIONS, Role.LIST_VERSIONS, Role.MODIFY_ANY_COLLECTION)
        console.sign_in(api.token(*roles))
        page = open_collection(console, world, "mail.tar")
        expect(page.get_by_role("button", name="Download 3")).to_be_visible()

        expect(page.get_by_role("button", name="Upload")).to_have_count(0)
        expect(page.get_by_role("link", name="Access")).to_have_count(0)
        expect(page.get_by_role("button", name="Delete version 2")).to_have_count(0)


VIEWS = ("#/", "#/collections", "#/collections/new", "versions", "settings", "access", "send", "events")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_console, service, world, theme):
    console = open_console(theme=theme)
    console.sign_in(service.admin)
    found = {}
    for view in VIEWS:
        console.go(view if view[0] == "#" else f"#/collections/{world['shop.sql.gz']}/{view}")
        if violations := console.violations():
            found[view] = violations

    assert {} == found


def test_texts_of_others_are_shown_as_text(open_console, service, world, api):
    console = open_console()
    console.page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    secret = api.token(Role.UPLOAD_VERSIONS, name=XSS)
    fingerprint = api("GET", "", token=secret)["token"]["fingerprint"]
    api("PUT", f"/collections/{world[NAME]}/access/{fingerprint}")
    api("PUT", f"/collections/{world[NAME]}/versions", b"evil", headers={"User-Agent": XSS}, token=secret)
    console.sign_in(service.admin)
    for view in ("#/", "#/collections", *(f"#/collections/{world[NAME]}/{tab}" for tab in VIEWS[3:])):
        console.go(view)
        expect(console.page.get_by_text(NAME).first).to_be_attached()
        if view == "#/collections":
            expect(console.page.get_by_text(LABEL)).to_be_visible()
        if view.endswith("/access"):
            expect(console.page.locator(".name", has_text=XSS)).to_be_visible()

    expect(console.page.get_by_text(XSS).first).to_be_visible()
    assert 0 == console.page.locator("img, svg[onload], script:not([src])").count()


@pytest.mark.parametrize("view", ["#/", "#/collections"])
def test_a_phone_needs_no_scrolling_to_the_side(open_console, service, world, view):
    console = open_console(width="phone")
    console.sign_in(service.admin)
    console.go(view)

    assert console.page.evaluate("document.documentElement.scrollWidth") <= 390
    console.page.get_by_role("link", name="More").click()
    expect(console.page.get_by_role("button", name="Sign out").last).to_be_visible()
