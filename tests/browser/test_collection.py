"""One collection: its versions, uploads and downloads, settings, access, snippets and events."""

import hashlib
import json
import os
import re
import subprocess
import urllib.error
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

from .conftest import MERGE_PATCH, open_collection
from .test_files import DROP
from .test_overview import FAILS


def test_a_version_is_uploaded_and_compared(signed_in, world, api):
    page = open_collection(signed_in, world, "shop.sql.gz")
    page.get_by_role("button", name="Upload").click()
    content = b"a dump of the shop" * 1000
    page.set_input_files("input[type=file]", {"name": "x.gz", "mimeType": "application/gzip", "buffer": content})
    expect(page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()

    last = api("GET", f"/collections/{world['shop.sql.gz']}/versions/latest")
    assert hashlib.sha256(content).hexdigest() == last["sha256"]
    expect(page.locator("tbody tr").first).to_contain_text(str(last["number"]))


@pytest.mark.costly
@pytest.mark.parametrize(
    ("limits", "retention", "detail", "advice"),
    [
        ({"versions": 1}, "P7D", "1 of 1 version, each kept for 1 week", "lower the minimum retention"),
        ({"versions": 1}, "PT0S", "1 of 1 version", "a strategy that makes room"),
        ({"version_size": 10, "total_size": 10}, "PT0S", "6 bytes of 10 bytes", "a strategy that makes room"),
    ],
)
def test_a_full_collection_says_which_limit_is_reached_and_what_helps(
    signed_in, api, limits, retention, detail, advice
):
    made = api("POST", "/collections", {"name": "full.bin", "strategy": "alert_when_backup_limit_reached"})["id"]
    api("PATCH", f"/collections/{made}", {"limits": limits, "guards": {"min_retention": retention}}, MERGE_PATCH)
    api("PUT", f"/collections/{made}/versions", b"first.")
    with pytest.raises(urllib.error.HTTPError):
        api("PUT", f"/collections/{made}/versions", b"second")

    signed_in.page.reload()
    tile = signed_in.page.locator(f".tile[href$='{made}']")
    expect(tile.locator(".dim")).to_have_text(detail)
    tile.click()
    expect(signed_in.page.get_by_text(advice)).to_be_visible()


def test_a_download_is_named_after_its_content_and_the_page_says_so_once(open_console, service, api):
    made = api("POST", "/collections", {"name": "plain.sql.gz"})["id"]
    for night in (b"one", b"two"):
        api("PUT", f"/collections/{made}/versions", b"CREATE TABLE orders;\n" + night)
    console = open_console(script="delete window.showSaveFilePicker")
    console.sign_in(service.admin)
    console.go(f"#/collections/{made}")
    page = console.page

    expect(page.get_by_text("named plain.sql: what is stored is not compressed")).to_have_count(1)
    with page.expect_download() as download:
        page.get_by_role("button", name="Download version 2").click()
    assert "plain-v2.sql" == download.value.suggested_filename


@pytest.mark.costly
def test_files_are_dropped_anywhere_on_the_page(signed_in, api):
    made = api("POST", "/collections", {"name": "dropped.txt"})["id"]
    signed_in.go(f"#/collections/{made}")
    signed_in.page.evaluate(DROP, [["one.txt", "two.txt"], "dropped"])

    expect(signed_in.page.get_by_text("2 of 2 done")).to_be_visible()
    expect(signed_in.page.get_by_text("Drop a file here")).to_have_count(0)
    assert 2 == api("GET", f"/collections/{made}")["versions"]


@pytest.mark.costly
def test_a_dropped_file_is_refused_without_the_right_to_upload(console, world, api):
    console.sign_in(api.token(Role.LIST_COLLECTIONS, Role.LIST_VERSIONS, Role.MODIFY_ANY_COLLECTION))
    page = open_collection(console, world, "mail.tar")
    is_left_to_the_browser = page.evaluate("""() => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(["text"], "one.txt"));
      return document.body.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
    }""")

    assert not is_left_to_the_browser
    expect(page.get_by_role("region", name="Uploads and downloads")).to_have_count(0)


@pytest.mark.costly
def test_a_refused_upload_stays_with_its_reason(signed_in, world, api):
    api("PATCH", f"/collections/{world['empty.zip']}", {"limits": {"version_size": 10}}, MERGE_PATCH)
    signed_in.page.route("**/versions", lambda route: pytest.fail("it was sent"))
    page = open_collection(signed_in, world, "empty.zip")
    page.get_by_role("button", name="Upload").click()
    page.set_input_files("input[type=file]", {"name": "e.zip", "mimeType": "text/plain", "buffer": b"x" * 100})

    expect(page.get_by_role("alert")).to_contain_text("larger than the collection allows")
    expect(page.get_by_role("button", name="Retry")).to_be_visible()


def test_a_version_is_downloaded_and_compared(open_console, service, world, api):
    console = open_console(script="delete window.showSaveFilePicker")
    console.sign_in(service.admin)
    page = open_collection(console, world, "mail.tar")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download version 2").click()

    assert b"mail.tar" * 200 == download.value.path().read_bytes()
    assert "mail-v2.tar" == download.value.suggested_filename
    expect(page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()


def test_a_version_is_deleted_after_a_question(signed_in, world, api):
    page = open_collection(signed_in, world, "mail.tar")
    page.get_by_role("button", name="Delete version 1").click()
    dialog = page.get_by_role("dialog", name="Delete version 1?")
    expect(dialog).to_contain_text("800 bytes")
    dialog.get_by_role("button", name=re.compile("Delete 1 version|Move 1 to trash")).click()
    expect(page.locator("tbody tr")).to_have_count(2)

    numbers = [one["number"] for one in api("GET", f"/collections/{world['mail.tar']}/versions")["items"]]
    assert [3, 2] == numbers


@pytest.mark.costly
def test_a_row_says_why_its_key_failed(open_console, service, world):
    console = open_console(script="delete window.showSaveFilePicker")
    console.sign_in(service.admin)
    console.expect("503")
    page = console.page
    page.route("**/versions?*", lambda route: route.fulfill(json=_with_large_versions(route.fetch().json())))
    page.route("**/link", lambda route: route.fulfill(**FAILS))
    open_collection(console, world, "late.tar", "send")
    open_collection(console, world, "late.tar")
    row = page.locator("tbody tr").filter(has=page.get_by_role("button", name="Note of version 1"))
    row.focus()
    page.keyboard.press("d")

    expect(row.get_by_role("alert")).to_contain_text("503")


def _with_large_versions(listed):
    """Too large for the memory of the page: they are downloaded by a link."""
    return listed | {"items": [one | {"size": 10**9} for one in listed["items"]]}


def test_a_version_in_quarantine_is_released(signed_in, world, api):
    collection = api("POST", "/collections", {"name": "small.tar", "guards": {"min_version_size": 100}})["id"]
    api("PUT", f"/collections/{collection}/versions", b"small")
    signed_in.go(f"#/collections/{collection}")
    page = signed_in.page
    row = page.locator("tbody tr")
    expect(row).to_contain_text("broken, in quarantine")
    page.locator("main > .note").get_by_role("button", name="Release version 1").click()
    expect(row).not_to_contain_text("in quarantine")

    assert 1 == api("GET", f"/collections/{collection}")["versions"]
    api("DELETE", f"/collections/{collection}/versions/v1")
    api("DELETE", f"/collections/{collection}")


def test_settings_are_saved_and_errors_are_at_their_fields(signed_in, world, api):
    page = open_collection(signed_in, world, "shop.sql.gz", "settings")
    largest = page.get_by_label("Largest version")
    largest.fill("3 gigs")
    page.get_by_role("button", name="Save").click()
    expect(largest).to_have_accessible_description(re.compile("“3 gigs” is not a size"))
    expect(largest).to_be_focused()
    expect(page.get_by_text("1 field is wrong: see there.")).to_be_visible()
    largest.fill("3 GB")
    page.get_by_label("Description").fill("The shop")
    expect(page.get_by_text("2 changes not saved")).to_be_visible()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("not saved")).to_have_count(0)

    saved = api("GET", f"/collections/{world['shop.sql.gz']}")
    assert (3_000_000_000, "The shop") == (saved["limits"]["version_size"], saved["description"])


@pytest.mark.costly
def test_all_guards_are_in_the_settings(signed_in, world, api):
    page = open_collection(signed_in, world, "late.tar", "settings")
    for name, text in {
        "Smaller than usual by more than (%)": "20",
        "Larger than usual by more than (%)": "300",
        "Smallest believable version": "2 kB",
        "Declines in thirty nights by more than (%)": "25",
        "The same content for": "7 days",
    }.items():
        page.get_by_label(name, exact=True).fill(text)
    kind = page.get_by_label("A version of another format, program or database than the last three is suspicious")
    expect(kind).to_be_checked()
    kind.uncheck()
    page.get_by_label("A version that is the same again on another day").check()
    page.get_by_label("What to do with a suspicious version").select_option("mark")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("not saved")).to_have_count(0)

    guards = api("GET", f"/collections/{world['late.tar']}")["guards"]
    numbers = {"max_shrink_percent": 20, "max_growth_percent": 300, "min_version_size": 2000, "min_retention": "PT0S"}
    numbers |= {"max_decline_percent": 25, "max_unchanged": "P7D"}
    assert numbers | {"expects_kind": False, "expects_change": True, "on_suspicious": "mark"} == guards


@pytest.mark.costly
def test_the_chart_of_sizes_names_what_decides(signed_in, api):
    made = api("POST", "/collections", {"name": "curve.bin"})["id"]
    card = signed_in.page.locator(".card", has=signed_in.page.get_by_role("heading", name="Size of each upload"))
    key = card.locator(".key")
    for size, text in {
        1000: None,
        900: "below 450 bytes, 50 % of the newest good version, 900 bytes",
        800: "below 450 bytes, 50 % of the median of the last 14 good versions, 900 bytes",
    }.items():
        api("PUT", f"/collections/{made}/versions", (b"xy" * size)[:size])
        signed_in.go("#/more")
        signed_in.go(f"#/collections/{made}")
        if text:
            expect(key).to_contain_text(f"dashed: {text}, an upload is suspicious")
    expect(card.get_by_role("img", name="3 uploads, from 800 bytes to 1.00 kB, the newest 800 bytes")).to_be_visible()
    for seconds in (60, 90.2):
        api("POST", f"/collections/{made}/runs", {"outcome": "ok", "seconds": seconds})
    signed_in.go("#/more")
    signed_in.go(f"#/collections/{made}")
    expect(card.get_by_role("img", name="From 60 secs to 90 secs, the last time 90 secs")).to_be_visible()


def test_access_is_granted_and_removed(signed_in, world, api):
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


@pytest.mark.costly
def test_the_simulator_follows_the_rules_of_the_form(signed_in, world):
    page = open_collection(signed_in, world, "mail.tar", "settings")
    page.get_by_label("Which versions are kept").select_option("keep")
    page.get_by_label("For", exact=True).fill("10 weeks")
    for rule in ("Last", "Weekly", "Monthly"):
        page.get_by_label(rule, exact=True).fill("1")
    page.get_by_label("Daily, to drag").fill("14")
    expect(page.get_by_text(re.compile("Keeps 14 of 7[0-9] versions"))).to_be_visible()

    page.get_by_role("button", name="This collection").click()
    expect(page.get_by_text("The next upload would evict")).to_be_visible()


@pytest.mark.costly
def test_the_snippets_name_the_collection(signed_in, world):
    page = open_collection(signed_in, world, "shop.sql.gz", "send")
    for tool in ("frepo-client", "cron", "systemd timer", "bahub", "newman", "curl"):
        page.get_by_role("button", name=tool, exact=True).click()
        expect(page.locator("pre")).to_contain_text(world["shop.sql.gz"])


@pytest.mark.costly
def test_the_line_for_cron_sends_a_dump_and_leaves_no_file(signed_in, service, world, tmp_path):
    page = open_collection(signed_in, world, "mail.tar", "send")
    page.get_by_role("button", name="cron", exact=True).click()
    line = page.locator("pre").inner_text().splitlines()[-1].partition(" postgres ")[2]
    for name, text in {
        "token.header": f"Authorization: Bearer {service.admin}\n",
        "pg_dump": "#!/bin/sh\necho dump",
    }.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "pg_dump").chmod(0o755)
    (tmp_path / "tmp").mkdir()
    seen = 'stat -c %a "$dump" >> modes; pg_dump shop'
    for old, new in {"/etc/frepo": str(tmp_path), "/var/tmp": str(tmp_path / "tmp"), "pg_dump shop": seen}.items():
        line = line.replace(old, new)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    sent = subprocess.run(
        ["bash", "-c", f"umask 022; {line}"], env=variables, cwd=tmp_path, capture_output=True, check=False
    )

    assert (0, "600\n", []) == (sent.returncode, (tmp_path / "modes").read_text(), list((tmp_path / "tmp").iterdir()))
    assert json.loads(sent.stdout[sent.stdout.index(b"{") :])["number"] > 1
    failed = subprocess.run(
        ["bash", "-c", line.replace("pg_dump shop", "false")], env=variables, cwd=tmp_path, check=False
    )
    assert (1, []) == (failed.returncode, list((tmp_path / "tmp").iterdir()))


def test_the_lines_for_a_new_server_enrol_it(signed_in, world, api, tmp_path):
    page = open_collection(signed_in, world, "late.tar", "send")
    page.get_by_label("Name of the server").fill("db7")
    page.get_by_role("button", name="Make a one-time code").click()
    code = page.locator("output").inner_text()
    expect(page.get_by_text("It works once, for 7 days")).to_be_visible()
    install, enroll = page.locator("pre").all_inner_texts()[:2]
    (tmp_path / "sudo").write_text('#!/bin/sh\nexec "$@"\n')
    (tmp_path / "sudo").chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "FREPO_CLIENT_CONFIG": str(tmp_path / "client.toml")}
    options = {"input": code, "text": True, "env": variables, "cwd": tmp_path, "capture_output": True}

    def paste(lines):
        return subprocess.run(["bash", "-c", lines.replace("/usr/local/bin", str(tmp_path))], check=False, **options)

    changed = paste(re.sub('echo "[0-9a-f]{8}', 'echo "00000000', install))
    assert (1, False) == (changed.returncode, (tmp_path / "frepo-client").exists())
    done = paste(f"{install}\n{enroll}\nfrepo-client --version")
    assert (0, code in install + enroll) == (done.returncode, False), done.stderr
    assert "enrolled as db7. Its token may upload to late.tar" in done.stdout
    expect(page.get_by_role("heading", name=done.stdout.splitlines()[-1])).to_be_visible()
    assert "db7" in [one["name"] for one in api("GET", f"/collections/{world['late.tar']}/access")["items"]]
    signed_in.go(f"#/collections/{world['late.tar']}")
    open_collection(signed_in, world, "late.tar", "send")
    expect(page.locator("output")).to_have_count(0)


def test_its_events_are_shown(signed_in, world):
    page = open_collection(signed_in, world, "mail.tar", "events")

    expect(page.get_by_text("Version 3 received")).to_be_visible()


@pytest.mark.costly
def test_a_tab_reads_each_list_once_when_it_is_opened(signed_in, world):
    page, asked = signed_in.page, []
    for tab, lists in {"versions": ["versions", "trash"], "events": ["events"], "access": ["access"]}.items():
        open_collection(signed_in, world, "shop.sql.gz", "send")
        asked.clear()
        page.route("**/api/v1/**", lambda route: (asked.append(urlsplit(route.request.url).path), route.continue_()))
        open_collection(signed_in, world, "shop.sql.gz", tab)
        page.unroute_all(behavior="wait")

        assert lists == [name for name in lists for path in asked if path.endswith(f"/{name}")]


def test_a_download_that_cannot_begin_says_why(open_console, service, world, api):
    console = open_console(script="delete window.showSaveFilePicker")
    console.expect("503")
    found = api("GET", f"/collections/{world['shop.sql.gz']}")
    found["last_version"]["size"] = 10**9  # too large for the memory of the page: it is downloaded by a link
    console.page.route(f"**/collections/{found['id']}", lambda route: route.fulfill(json=found))
    console.page.route("**/link", lambda route: route.fulfill(**FAILS))
    console.sign_in(service.admin)
    page = open_collection(console, world, "shop.sql.gz")
    page.get_by_role("button", name=re.compile(r"^Download latest")).click()

    expect(page.get_by_role("alert")).to_have_text("The service answered 503")


@pytest.mark.costly
def test_a_collection_that_is_gone_says_so(signed_in, world):
    signed_in.expect("404")
    signed_in.go("#/collections/00000000-0000-4000-8000-000000000000")

    expect(signed_in.page.get_by_role("heading", name="This collection does not exist").first).to_be_attached()


def allow(api, secret, collection):
    """Put a token on a collection's list."""
    fingerprint = api("GET", "", token=secret)["token"]["fingerprint"]
    api("PUT", f"/collections/{collection}/access/{fingerprint}")


def test_a_token_of_one_collection_opens_it(console, world, api):
    secret = api.token(Role.LIST_VERSIONS, Role.UPLOAD_VERSIONS)
    allow(api, secret, world["shop.sql.gz"])
    console.sign_in(secret, f"#/collections/{world['shop.sql.gz']}")
    page = console.page

    expect(page.get_by_role("heading", level=1)).to_have_text("shop.sql.gz")
    expect(page.get_by_role("button", name=re.compile(r"^Download latest"))).to_be_visible()
    expect(page.get_by_role("button", name="Upload")).to_be_visible()
    expect(page.get_by_role("link", name="Settings")).to_have_count(0)
    expect(page.locator("main").get_by_role("link", name="Collections")).to_have_count(0)
    page.get_by_role("link", name="Send backups here").click()
    expect(page.get_by_text("This token may not make one-time codes")).to_be_visible()
    expect(page.locator("pre")).to_contain_text(world["shop.sql.gz"])


def test_a_collection_that_the_token_may_not_see_says_so(console, world, api):
    console.expect("403")
    console.sign_in(api.token(Role.LIST_VERSIONS), f"#/collections/{world['shop.sql.gz']}")

    expect(console.page.get_by_text("This token may not see this")).to_be_visible()


def test_a_token_is_offered_only_what_it_may_do(console, world, api):
    secret = api.token(Role.LIST_COLLECTIONS, Role.VIEW_ALL_COLLECTIONS, Role.LIST_VERSIONS, Role.UPLOAD_VERSIONS)
    allow(api, secret, world["mail.tar"])
    console.sign_in(secret)
    page = open_collection(console, world, "mail.tar")
    expect(page.get_by_role("button", name="Download latest (v3)")).to_be_visible()
    expect(page.get_by_role("button", name="Upload")).to_be_visible()
    expect(page.get_by_role("link", name="Access")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete version 2")).to_have_count(0)

    page = open_collection(console, world, "late.tar")  # which does not list the token
    expect(page.get_by_role("heading", level=1)).to_have_text("late.tar")
    expect(page.get_by_role("button", name="Download latest (v3)")).to_have_count(0)
    expect(page.get_by_role("button", name="Upload")).to_have_count(0)
