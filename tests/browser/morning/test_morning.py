"""What has to be quick each morning: the clicks that a job needs are counted."""

import gzip
import os
import re
import subprocess

import pytest
from playwright.sync_api import expect

from support.wire import eventually

from ..conftest import MERGE_PATCH, open_collection
from ..test_charts import GB, Growth

pytestmark = pytest.mark.costly

# Clicks of a person: those that the page makes itself are not trusted.
COUNT = """window.clicks = 0; addEventListener("click", (event) => { clicks += event.isTrusted ? 1 : 0 }, true)"""
LIMITS = {"versions": 9, "version_size": 10**6, "total_size": 10**8}
DUMP = "-- a dump\n" * 200


@pytest.fixture(scope="module")
def morning(world, api):
    """The ids of the collections, of which one has a broken version after two good ones."""
    api("POST", "/tokens", {"name": "cron of the mail", "roles": ["security.administrator"]})
    made = api("POST", "/collections", {"name": "broken.sql.gz", "expected_every": "P1D", "labels": ["prod"]})["id"]
    whole = [gzip.compress(f"{DUMP}-- ends with {number}\n".encode()) for number in (1, 2, 3)]
    for content in (*whole[:2], whole[2][:-9]):
        api("PUT", f"/collections/{made}/versions", content)
    return world | {"broken.sql.gz": made}


@pytest.fixture
def counted(open_console, service):
    """A page that counts the clicks of its person, from the overview on."""
    console = open_console(script=f"delete window.showSaveFilePicker; {COUNT}")
    console.sign_in(service.admin)
    return console


def clicks(console):
    return console.page.evaluate("clicks")


def test_the_overview_answers_without_a_click(counted, morning):
    page = counted.page
    Growth(page, free=5 * GB, full_on="2031-05-04")
    counted.go("#/more")
    counted.go("#/")
    silent = page.locator(f".tile[href$='{morning['mail.tar']}']")
    expect(silent).to_contain_text("No backup for")  # who sent nothing
    failed = page.locator(".tile", has_text="broken.sql.gz")
    expect(failed).to_contain_text("The gzip data ends too early")  # what failed last night, and why
    expect(failed).to_contain_text("Newest good: version 2")  # which version is surely good
    storage = page.locator("section.card", has=page.get_by_role("heading", name="Storage", exact=True))
    expect(storage.get_by_text("full on 4 May 2031, at 100 MB a day")).to_be_visible()
    line = page.locator("details", has_text="prod")
    expect(line.get_by_role("img", name=re.compile("No day was missed|Missed")).first).to_be_visible()

    assert 0 == clicks(counted)
    line.locator("summary").first.click()
    expect(line.get_by_role("link", name="shop.sql.gz")).to_be_visible()
    expect(page.get_by_role("heading", name="Jobs")).to_have_count(0)
    assert [] == counted.violations()


def test_yesterdays_version_is_restored_by_one_click(counted, morning):
    page = open_collection(counted, morning, "late.tar")
    expect(page.get_by_role("region", name="Figures")).to_contain_text("Newest good version")
    before = clicks(counted)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download version 2").click()

    assert (1, b"late.tar" * 200) == (clicks(counted) - before, download.value.path().read_bytes())


def test_a_version_is_pinned_by_one_click_and_its_pin_is_filled(counted, morning, api):
    page = open_collection(counted, morning, "late.tar")
    before = clicks(counted)
    page.get_by_role("button", name="Pin version 2").click()
    row = page.locator("tbody tr", has=page.get_by_role("button", name="Version 2: details"))
    expect(row).to_contain_text("Pinned")
    assert 1 == clicks(counted) - before
    assert api("GET", f"/collections/{morning['late.tar']}/versions/v2")["pinned"]
    places = [
        row.get_by_role("button", name="Note of").bounding_box()["x"]
        for row in (page.locator("tbody tr").nth(0), page.locator("tbody tr").nth(1))
    ]
    assert places[0] == places[1]


def test_who_deleted_a_version_is_named_after_one_click(counted, morning, api):
    secret = api("POST", "/tokens", {"name": "Anna of support", "roles": ["security.administrator"]})["secret"]
    collection = morning["shop.sql.gz"]
    api("DELETE", f"/collections/{collection}/versions/v1", token=secret)
    page = open_collection(counted, morning, "shop.sql.gz")
    trash = page.locator("section", has=page.get_by_role("heading", name="Trash", exact=True))
    expect(trash).to_contain_text("by Anna of support")
    before = clicks(counted)
    page.get_by_role("link", name="Events", exact=True).last.click()
    expect(page.get_by_text("Version 1 deleted").first).to_be_visible()
    expect(page.locator("main li").first).to_contain_text("by Anna of support")
    assert 1 == clicks(counted) - before
    counted.go("#/events")
    page.get_by_role("searchbox").fill("anna")
    page.keyboard.press("Enter")
    expect(page.locator("main li")).to_have_count(1)
    page.get_by_role("searchbox").fill("shop.sql")
    page.keyboard.press("Enter")
    names = page.locator("main li a.cut")
    expect(names.nth(1)).to_be_visible()  # by Anna there was one
    expect(names.filter(has_not_text="shop.sql.gz")).to_have_count(0)
    expect(names.first).to_have_text("shop.sql.gz")


def test_a_row_opens_all_that_is_known_about_a_version(counted, morning, api):
    page = open_collection(counted, morning, "broken.sql.gz")
    version = api("GET", f"/collections/{morning['broken.sql.gz']}/versions/v2")
    rows = page.locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("broken, in quarantine")
    expect(rows.nth(0).locator("span.row.ok")).to_have_count(0)
    rows.nth(1).locator("time").click()
    panel = page.get_by_role("dialog", name="Version 2 of broken.sql.gz")
    for text in (version["sha256"], "whole", "Sent by", "Version 2 received", "integrity", "-o broken-v2.sql.gz"):
        expect(panel).to_contain_text(text)
    expect(page).to_have_url(re.compile("version=2"))
    assert [] == counted.violations()
    page.go_back()
    expect(panel).to_have_count(0)


def test_a_version_in_quarantine_is_compared_with_the_newest_good_one(counted, morning):
    page = open_collection(counted, morning, "broken.sql.gz")
    note = page.locator(".note.failed")
    for name in ("Release version 3", "Delete version 3"):
        expect(note.get_by_role("button", name=name)).to_be_visible()
    note.get_by_role("button", name="Compare version 3").click()
    dialog = page.get_by_role("dialog", name="Compare version 3")
    expect(dialog).to_contain_text("version 2, the newest good one")
    expect(dialog.locator("pre").last).to_contain_text("-- ends with 2")
    expect(dialog.locator("pre").first).to_contain_text("-- a dump")
    assert [] == counted.violations()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)


def test_several_versions_are_pinned_and_downloaded_at_once(counted, morning, api):
    made = api("POST", "/collections", {"name": "several.bin"})["id"]
    for number in (1, 2):
        api("PUT", f"/collections/{made}/versions", b"%d" % number)
    counted.go(f"#/collections/{made}")
    page = counted.page
    page.get_by_role("checkbox", name="Select all").check()
    saved = []
    page.on("download", lambda download: saved.append(download.suggested_filename))
    page.get_by_role("button", name="Download 2", exact=True).click()
    page.get_by_role("button", name="Pin 2", exact=True).click()
    expect(page.locator("tbody tr", has_text="Pinned")).to_have_count(2)
    expect(page.get_by_text("2 of 2 done")).to_be_visible()

    assert ["several-v1.bin", "several-v2.bin"] == sorted(saved)
    api("PATCH", f"/collections/{made}", {"limits": {"version_size": 10**9}}, MERGE_PATCH)


def test_a_new_server_gets_its_line_for_cron_by_two_clicks(counted, morning, service, api, tmp_path):
    page = counted.page
    before = clicks(counted)
    page.get_by_role("link", name="New server").click()
    expect(page.get_by_label("Name of its backup")).to_be_focused()
    page.keyboard.type("db7.sql.gz")
    page.get_by_role("button", name="Create, with the line for cron").click()
    shown = page.get_by_role("dialog", name="db7.sql.gz waits for its first backup")
    block = shown.locator("pre").inner_text()
    assert 2 == clicks(counted) - before
    assert [] == counted.violations()
    [made] = [one for one in api("GET", "/collections?q=db7")["items"] if one["name"] == "db7.sql.gz"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "cron.d").mkdir()
    (tmp_path / "bin/pg_dump").write_text("#!/bin/sh\necho a dump")
    (tmp_path / "bin/pg_dump").chmod(0o755)
    for old, new in {"/etc/frepo": "frepo", "/etc/cron.d": "cron.d", "/var/tmp": "."}.items():
        block = block.replace(old, f"{tmp_path}/{new}")
    variables = {"PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    subprocess.run(["bash", "-euc", block], env=variables, check=True)
    assert 0o600 == (tmp_path / "frepo/db7.header").stat().st_mode & 0o777
    [line] = [one for one in (tmp_path / "cron.d/backup-db7").read_text().splitlines() if " root " in one]
    subprocess.run(["bash", "-c", line.partition(" root ")[2]], env=variables, check=True, stdout=subprocess.DEVNULL)
    assert 1 == api("GET", f"/collections/{made['id']}")["versions"]


def test_the_retention_of_many_is_changed_by_three_clicks_after_a_look_at_what_changes(counted, morning, api):
    page = counted.page
    names = [f"fleet-{number:02}.tar" for number in range(20)]
    ids = [api("POST", "/collections", {"name": name, "limits": LIMITS})["id"] for name in names]
    counted.go("#/collections?q=fleet-")
    api("PATCH", f"/collections/{ids[0]}", {"limits": {"versions": 5}}, MERGE_PATCH)
    counted.go("#/more")
    counted.go("#/collections?q=fleet-&sort=name")
    before = clicks(counted)
    page.get_by_role("checkbox", name="Select all").click()
    page.get_by_role("button", name="Retention").click()
    dialog = page.get_by_role("dialog", name="Retention of 20 collections")
    most = dialog.get_by_label("Most versions", exact=True)
    expect(most).to_have_accessible_description("Now: 5 or 9")
    most.fill("5")
    expect(dialog.get_by_role("region", name="What would change")).to_contain_text("19 of 20 collections would change.")
    expect(dialog).to_contain_text("most versions: 9 → 5")
    assert [] == counted.violations()
    dialog.get_by_role("button", name="Change 19 collections").click()
    expect(dialog).to_have_count(0)
    expect(page.get_by_role("status").filter(has_text="19 changed, 1 were so already")).to_be_visible()

    assert 3 == clicks(counted) - before
    assert {5} == {api("GET", f"/collections/{one}")["limits"]["versions"] for one in ids}
    page.get_by_role("checkbox", name="Select fleet-07.tar").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    page.get_by_role("button", name="Delete 1 collection").click()
    expect(page.locator("tbody tr")).to_have_count(19)


def test_health_tests_where_notifications_go_and_shows_badges(counted, morning, api):
    page = counted.page
    counted.go("#/health")
    targets = page.get_by_role("region", name="Notifications")
    expect(targets).to_contain_text("Nobody is told when a backup fails")
    page.get_by_role("button", name="Show the address").click()
    picture = page.get_by_role("img", name="The badge as it is now")
    expect(picture).to_be_visible()
    assert eventually(True, lambda: picture.evaluate("(one) => one.naturalWidth > 50"))
    assert [] == counted.violations()


def test_a_target_that_fails_says_why_below_its_name(counted, morning):
    page = counted.page
    items = [{"name": name, "kind": "http", "events": ["job.failed"], "labels": [], "collections": []} for name in "ab"]
    refusal = {"delivered": False, "error": "The receiver answered with status 500"}
    page.route("**/notification-targets", lambda route: route.fulfill(json={"items": items}))
    page.route("**/notification-targets/b/test", lambda route: route.fulfill(json=refusal))
    counted.go("#/more")
    counted.go("#/health")
    line = page.get_by_role("region", name="Notifications").locator("li").nth(1)
    name = line.locator(".grow")
    before = name.bounding_box()
    line.get_by_role("button", name="Send a test b").click()
    expect(line.get_by_role("alert")).to_have_text(refusal["error"])

    after = name.bounding_box()
    assert (before["width"], before["height"]) == (after["width"], after["height"])
    assert line.get_by_role("alert").bounding_box()["y"] > after["y"] + after["height"] - 1


def test_the_next_times_of_an_expectation_are_shown_and_written_as_cron(counted, morning):
    page = open_collection(counted, morning, "late.tar", "settings")
    page.get_by_label("A backup is expected every").fill("0 3 * * 1")
    expect(page.get_by_text(re.compile("Next: .*03:00 · .*03:00"))).to_be_visible()
    page.get_by_text("At a time of day").click()
    page.get_by_label("Days").select_option("1-5")
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_label("A backup is expected every")).to_have_value("0 3 * * 1-5 UTC")
    page.get_by_role("button", name="Discard").click()


def test_a_transfer_is_seen_from_every_page(counted, morning, api):
    page = open_collection(counted, morning, "empty.zip")
    page.route("**/versions", lambda route: route.fulfill(status=503, body="{}"))
    counted.expect("503")
    page.get_by_role("button", name="Upload").click()
    page.set_input_files("input[type=file]", {"name": "e.zip", "mimeType": "text/plain", "buffer": b"x"})
    expect(page.get_by_text("Tries again").or_(page.get_by_text("answered 503")).first).to_be_visible()
    counted.go("#/events")
    tray = page.get_by_text("1 transfer runs")
    expect(tray).to_be_visible()
    page.get_by_role("link", name="Show", exact=True).click()
    expect(tray).to_have_count(0)
    page.get_by_role("button", name=re.compile("Cancel e.zip")).click()
