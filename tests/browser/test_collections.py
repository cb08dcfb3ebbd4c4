"""Overview and collections: what they show, each action once, the keyboard; accessibility and texts of others."""

import gzip
import re
import sqlite3

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role
from support.scale import first_of

from .conftest import LABEL, NAME, XSS
from .test_overview import FAILS


class TestOverview:
    @pytest.mark.costly
    def test_it_says_what_needs_attention_first(self, signed_in, world):
        signed_in.go("#/")
        page = signed_in.page

        expect(page.get_by_role("heading", level=1)).to_have_text("1 of 5 collections needs attention")
        first = page.locator(".tile").first
        expect(first).to_contain_text("mail.tar")
        expect(first).to_contain_text("No backup for 3 days")
        expect(page.get_by_role("heading", name="Last 24 hours")).to_be_visible()
        expect(page.get_by_text("12 backups arrived")).to_be_visible()

    @pytest.mark.costly
    def test_a_token_that_may_only_list_collections_sees_them(self, open_console, world, api):
        console = open_console()
        console.sign_in(api.token(Role.LIST_COLLECTIONS, Role.VIEW_ALL_COLLECTIONS))

        expect(console.page.get_by_role("heading", level=1)).to_contain_text("1 of 5")
        expect(console.page.get_by_role("heading", name="Jobs")).to_have_count(0)


class TestList:
    @pytest.mark.costly
    def test_the_worst_is_first_and_filters_are_in_the_url(self, signed_in, world):
        signed_in.go("#/collections")
        page = signed_in.page
        expect(page.locator("tbody tr").first).to_contain_text("mail.tar")

        page.keyboard.press("/")
        page.keyboard.type("shop")
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page).to_have_url(re.compile("q=shop"))
        page.reload()
        expect(page.locator("tbody tr")).to_have_count(1)
        expect(page.get_by_role("searchbox")).to_have_value("shop")

    @pytest.mark.costly
    def test_what_matches_nothing_says_so(self, signed_in, world):
        signed_in.go("#/collections?q=nothing&state=full")
        expect(signed_in.page.get_by_role("heading", name="Nothing matches “nothing”")).to_be_visible()
        signed_in.page.get_by_role("link", name="Clear filters").click()

        expect(signed_in.page.locator("tbody tr")).to_have_count(5)

    @pytest.mark.costly
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

    @pytest.mark.costly
    def test_the_interval_of_several_is_changed(self, signed_in, world, api):
        signed_in.go("#/collections?q=late")
        page = signed_in.page
        expect(page.locator("tbody tr")).to_have_count(1)
        page.get_by_role("checkbox", name="Select late.tar").check()
        page.get_by_role("button", name="Expected interval").click()
        every = page.get_by_label("A backup is expected every", exact=True)
        every.fill("soon")
        expect(page.get_by_role("alert")).to_have_text("“soon” is not a duration. Write 1 day or 6 hours.")
        every.fill("12 h")
        page.get_by_role("button", name="Change 1 collection").click()
        expect(page.get_by_role("dialog")).to_have_count(0)

        assert "PT12H" == api("GET", f"/collections/{world['late.tar']}")["expected_every"]

    @pytest.mark.costly
    def test_a_token_gets_access_to_several(self, signed_in, world, api):
        secret = api.token(Role.UPLOAD_VERSIONS, name="collector")
        fingerprint = api("GET", "", token=secret)["token"]["fingerprint"]
        signed_in.go("#/collections")
        page = signed_in.page
        for name in ("late.tar", "shop.sql.gz"):
            page.get_by_role("checkbox", name=f"Select {name}").check()
        expect(page.get_by_role("region", name="2 selected")).to_contain_text("6 versions")
        page.get_by_role("button", name="Grant access").click()
        dialog = page.get_by_role("dialog", name="Grant access to 2 collections")
        dialog.get_by_label("Token").select_option(fingerprint)
        dialog.get_by_role("button", name="Grant access").click()
        expect(dialog).to_have_count(0)

        granted = {one["id"] for one in api("GET", f"/tokens/{fingerprint}")["collections"]}
        assert {world["late.tar"], world["shop.sql.gz"]} == granted

    @pytest.mark.costly
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

    @pytest.mark.costly
    def test_a_list_that_cannot_be_saved_as_csv_says_why(self, signed_in, world):
        signed_in.expect("503")
        signed_in.go("#/collections")
        signed_in.page.route("**/api/v1/collections?*limit=500*", lambda route: route.fulfill(**FAILS))
        signed_in.page.get_by_role("button", name="CSV").click()

        expect(signed_in.page.get_by_role("alert")).to_have_text("The service answered 503")

    @pytest.mark.costly
    def test_the_list_is_saved_as_csv(self, signed_in, world):
        signed_in.go("#/collections")
        with signed_in.page.expect_download() as download:
            signed_in.page.get_by_role("button", name="CSV").click()

        lines = download.value.path().read_text().splitlines()
        assert (6, "id,name,state") == (len(lines), lines[0][:13])


VIEWS = ("#/", "#/collections", "#/collections/new", "versions", "runs", "settings", "access", "send", "events")


@pytest.mark.parametrize("theme", first_of(["light", "dark"]))
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


@pytest.fixture(scope="module")
def failed(api):
    """A collection whose second version was cut."""
    made = api("POST", "/collections", {"name": "failed.gz"})["id"]
    whole = gzip.compress(b"a dump" * 1000)
    for content in (whole, whole[:-9]):
        api("PUT", f"/collections/{made}/versions", content)
    return made


@pytest.mark.costly
def test_a_failed_collection_says_why_in_the_overview_and_in_the_list(signed_in, failed):
    page = signed_in.page
    page.reload()
    tile = page.locator(f".tile[href$='{failed}']")
    expect(tile.get_by_role("img", name="Failed")).to_be_visible()
    expect(tile).to_contain_text("The gzip data ends too early")
    expect(tile).to_contain_text("Newest good: version 1")

    signed_in.go("#/collections?state=failed")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody tr")).to_contain_text("The gzip data ends too early")
    assert [] == signed_in.violations()


def test_a_version_shows_its_verdict_as_word_and_icon(console, failed, api):
    page = console.page
    console.sign_in(api.token(Role.ADMINISTRATOR, name="phone of the admin"))
    console.go(f"#/collections/{failed}")
    expect(page.get_by_text("The next good version ends this").first).to_contain_text("Newest good: version 1")
    rows = page.locator("tbody tr")
    for row, word, state in ((rows.nth(0), "broken", "failed"), (rows.nth(1), "whole", "ok")):
        verdict = row.locator(f"span.row.{state}").filter(has_text=word)
        expect(verdict.first).to_be_visible()
        expect(verdict.first.locator("svg")).to_have_count(1)
    expect(rows.nth(0)).to_contain_text("Does not count, evicts nothing")
    expect(page.locator(".facts")).to_contain_text("Newest good version")
    assert [] == console.violations()

    page.locator("main > .note").get_by_role("button", name="Release").click()
    expect(rows.nth(0)).to_contain_text(re.compile(r"Released by phone of the admin \([0-9a-f]{12}\)"))
    expect(page.locator("h1 + p")).not_to_contain_text("Failed")


@pytest.mark.costly
def test_pending_and_condemned_versions_say_so_and_the_newest_good_one_is_downloaded(signed_in, failed, api):
    page = signed_in.page

    def answer(route):
        items = route.fetch().json()["items"]
        if len(items) < 2:  # what the banner asks for
            return route.fulfill(json={"items": items, "next": None})
        items[0] |= {"verdict": "pending", "pending": True, "quarantined": False, "released_by": None}
        items[1] |= {"verdict": "broken", "condemned_at": "2026-01-05T02:00:00Z", "verdict_reason": "psql says no"}
        return route.fulfill(json={"items": items, "next": None})

    def answer_collection(route):
        last = {"number": 2, "at": "2026-01-05T02:00:00Z", "size": 1, "sha256": "0" * 64, "suspicious": False}
        route.fulfill(
            json=route.fetch().json()
            | {"last_version": last, "newest_good": {"number": 1, "at": last["at"], "size": 1}}
        )

    page.route(f"**/api/v1/collections/{failed}/versions?*", answer)
    page.route(f"**/api/v1/collections/{failed}", answer_collection)
    signed_in.go(f"#/collections/{failed}")
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("Waits for its verdict")
    expect(rows.nth(1)).to_contain_text("Found broken")
    expect(rows.nth(1).locator("[title='psql says no']")).to_contain_text("broken")
    buttons = page.locator("header").get_by_role("button", name=re.compile("^Download")).all_inner_texts()
    assert ["Download newest good (v1)", "Download latest (v2)"] == [one.strip() for one in buttons]
    page.route(f"**/api/v1/collections/{failed}/versions/good", lambda route: route.continue_())
    with page.expect_request(f"**/api/v1/collections/{failed}/versions/good"):
        page.get_by_role("button", name="Download newest good (v1)").click()
    signed_in.settle()
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.costly
def test_who_sends_the_same_is_found_from_the_overview(signed_in, service, api):
    same = api("POST", "/collections", {"name": "same.bin"})["id"]
    api("PUT", f"/collections/{same}/versions", b"the same again")
    with sqlite3.connect(service.folder / "frepo.db") as database:
        database.execute(
            "UPDATE collection SET baseline = json_set(baseline, '$.unchanged_nights', 19) WHERE id = ?", (same,)
        )
    database.close()
    page = signed_in.page
    page.reload()
    figures = page.get_by_role("region", name="Figures")
    expect(figures).to_contain_text("Good versions")
    expect(figures).to_contain_text("Restore-tested")
    figures.get_by_role("link", name="for 7 nights or longer").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    page.locator("tbody tr").get_by_role("link", name="same.bin").click()

    expect(page.locator(".facts")).to_contain_text("unchanged for 19 nights")
    page.go_back()
    page.get_by_role("button", name="unchanged for 7 nights or longer").click()
    expect(page.locator("tbody tr")).not_to_have_count(1)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        ("restore_tested_at = '2028-02-01 02:00:00', restore_outcome = 'good'", "Restore-tested"),
        ("restore_outcome = 'broken'", "Restore-testednever"),
    ],
    ids=["good", "broken"],
)
def test_a_collection_says_when_it_was_restored(signed_in, service, api, columns, shown):
    made = api("POST", "/collections", {"name": "restored.bin"})["id"]
    signed_in.go(f"#/collections/{made}")
    facts = signed_in.page.locator(".facts")
    expect(facts).to_contain_text("Newest good version")
    expect(facts).not_to_contain_text("Restore-tested")
    with sqlite3.connect(service.folder / "frepo.db") as database:
        database.execute(
            f"UPDATE collection SET restore_tried_at = '2028-02-01 02:00:00', {columns} WHERE id = ?", (made,)
        )
    database.close()

    signed_in.page.reload()

    expect(facts).to_contain_text(shown)
    failed = facts.get_by_text("the test of 1 Feb 2028, 02:00 failed")
    expect(failed).to_have_count(int("broken" in columns))


@pytest.mark.costly
def test_a_collection_names_others_with_the_same_content(signed_in, api):
    content = b"the files of etc" * 5000
    first, second = (api("POST", "/collections", {"name": f"web{one}-etc.tar"})["id"] for one in (1, 2))
    for path in (first, second):
        api("PUT", f"/collections/{path}/versions", content)
    page = signed_in.page
    signed_in.go(f"#/collections/{first}")

    page.get_by_role("link", name="web2-etc.tar version 1").click()

    expect(page.get_by_role("heading", name="web2-etc.tar")).to_be_visible()
    expect(page.get_by_role("link", name="web1-etc.tar version 1")).to_be_visible()


OUTPUT = "pg_dump: connecting\npg_dump: error: too many connections"


@pytest.fixture(scope="module")
def reported(api):
    """A collection whose backup job failed tonight, after a good night and one that was skipped."""
    made = api("POST", "/collections", {"name": "reported.bin"})["id"]
    api("PUT", f"/collections/{made}/versions", b"a backup")
    for run in (
        {"outcome": "ok", "seconds": 42, "exit_statuses": [0, 0], "version": 1},
        {"outcome": "skipped", "error_output": "on holiday"},
        {
            "outcome": "failed",
            "seconds": 1234,
            "exit_statuses": [1, 0],
            "host": "db1.example.org",
            "client": "cron",
            "error_output": OUTPUT,
        },
    ):
        api("POST", f"/collections/{made}/runs", run)
    return made


def test_a_failed_run_is_reached_from_the_overview_and_says_why(signed_in, reported):
    page = signed_in.page
    page.reload()
    page.locator(".tile", has_text="reported.bin").click()
    expect(page).to_have_url(re.compile(f"{reported}/runs$"))
    runs = page.get_by_role("region", name="Runs").locator(".list > li")
    expect(runs).to_have_count(3)
    expect(runs.nth(0).get_by_role("img", name="Failed")).to_be_visible()
    expect(runs.nth(0)).to_contain_text("Failed pg_dump: error: too many connections")
    expect(runs.nth(0)).to_contain_text(
        "took 20 minutes · exit statuses 1, 0 · version 1 · db1.example.org · cron · by"
    )
    expect(runs.nth(1)).to_contain_text("Skipped on holiday")
    expect(runs.nth(2)).to_contain_text("took 42 seconds · exit statuses 0, 0 · version 1")
    expect(page.locator("pre").first).to_be_hidden()
    runs.nth(0).get_by_text("Error output").click()
    expect(runs.nth(0).locator("pre")).to_have_text(OUTPUT)
    assert [] == signed_in.violations()

    page.get_by_role("button", name="Failed").click()
    expect(runs).to_have_count(1)
    expect(page).to_have_url(re.compile(r"outcome=failed$"))


@pytest.mark.costly
def test_the_runs_are_not_offered_without_the_right_to_list_versions(console, reported, api):
    secret = api.token(Role.VIEW_ALL_COLLECTIONS, Role.UPLOAD_VERSIONS)
    console.sign_in(secret)
    console.go(f"#/collections/{reported}")

    expect(console.page.get_by_role("link", name="Settings and retention")).to_have_count(0)
    expect(console.page.get_by_role("link", name="Runs")).to_have_count(0)
