"""The view Events: what happened, filters, live, before and after, and the export."""

import csv
import gzip
import json
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import expect

from frepo_core.domain.event_kinds import EventKind
from frepo_core.domain.roles import Role
from support.scale import first_of

from .test_states import refresh

PAYLOAD = "<script>alert(1)</script>"


@pytest.fixture(scope="module", autouse=True)
def collection(api):
    """A collection that was edited, with a refused and an accepted upload."""
    made = api("POST", "/collections", {"name": "shop.sql.gz", "description": "before", "limits": {"versions": 8}})
    api(
        "PATCH",
        f"/collections/{made['id']}",
        {"description": PAYLOAD, "limits": {"versions": 9}},
        {"Content-Type": "application/merge-patch+json"},
    )
    api("PUT", f"/collections/{made['id']}/versions", b"content")
    return made


@pytest.fixture
def events(signed_in):
    signed_in.go("#/events")
    expect(signed_in.page.locator("main li").first).to_be_visible()
    return signed_in.page


def titles(page):
    return page.locator("main li b").all_inner_texts()


def wait_for_event(api, kind):
    """Wait until an event has its number: those who read before that do not see it."""
    deadline = time.monotonic() + 30
    while not api("GET", f"/events?kind={kind.value}")["items"]:
        assert time.monotonic() < deadline, kind
        time.sleep(0.05)


def test_an_edit_shows_the_values_before_and_after(events):
    row = events.get_by_role("listitem").filter(has_text="Collection edited")
    row.get_by_role("button").click()

    rows = ["description", "before", PAYLOAD, "versions", "8", "9"]  # not maxBackupsCount, its old name, too
    expect(row.locator("tbody td")).to_have_text(rows)
    expect(row).to_contain_text("collection.edited")
    row.get_by_role("button").click()
    expect(row.locator("table")).to_have_count(0)


@pytest.mark.costly
def test_an_edited_note_is_shown_as_one_value(api, events, collection):
    path = f"/collections/{collection['id']}/versions/latest"
    api("PATCH", path, {"note": "kept for the audit"}, {"Content-Type": "application/merge-patch+json"})
    wait_for_event(api, EventKind.VERSION_NOTED)
    events.reload()
    row = events.get_by_role("listitem").filter(has_text="Note of version")
    row.get_by_role("button").click()

    expect(row.locator("tbody td")).to_have_text(["note", "none", "kept for the audit"])


def test_an_upload_is_one_row_with_what_was_checked_and_evicted(signed_in, events, api):
    body = {"name": "nightly.sql.gz", "limits": {"versions": 1}}
    made = api("POST", "/collections", body)["id"]
    for night in (b"first", b"second"):
        api("PUT", f"/collections/{made}/versions", gzip.compress(night))
    wait_for_event(api, EventKind.VERSION_EVICTED)
    signed_in.go(f"#/events?collection={made}")
    row = events.locator("main .list > li", has_text="Version 2 received")
    expect(row).to_contain_text("checked: good, version 1 evicted")
    expect(events.locator("main .card > .list > li")).to_have_count(4)  # with its creation and its token
    assert [] == signed_in.violations()
    row.get_by_role("button").click()
    expect(row.locator("li", has_text="Version 1 evicted")).to_be_visible()
    # Who asks for one kind of events gets a row for each.
    signed_in.go(f"#/events?collection={made}&kind=version.evicted")
    expect(events.locator("main .list > li b")).to_have_text("Version 1 evicted")
    signed_in.go(f"#/collections/{made}/events")
    expect(events.locator("main .list > li", has_text="Version 2 received")).to_contain_text("version 1 evicted")


@pytest.mark.costly
def test_events_are_filtered_by_the_address(signed_in, events, collection):
    events.get_by_role("button", name="Versions").click()
    expect(events.get_by_role("listitem").filter(has_text="Token created")).to_have_count(0)
    expect(events.get_by_text("Version 1 received").first).to_be_visible()
    expect(events).to_have_url(re.compile("#/events.group=version$"))

    signed_in.go(f"#/events?collection={collection['id']}&actor=system:nobody")
    expect(events.get_by_text("No event matches")).to_be_visible()
    events.get_by_role("link", name="Clear filters").click()
    expect(events.get_by_role("listitem").filter(has_text="Token created").first).to_be_visible()


@pytest.mark.costly
def test_quarantine_is_trouble_and_the_trash_is_about_versions(signed_in, events, api):
    small = api("POST", "/collections", {"name": "small.sql.gz", "guards": {"min_version_size": 100}})["id"]
    api("PUT", f"/collections/{small}/versions", b"too small")
    wait_for_event(api, EventKind.VERSION_QUARANTINED)
    signed_in.go("#/events")
    events.get_by_role("button", name="Trouble").click()
    expect(events.get_by_text("Version 1 quarantined")).to_be_visible()
    api("DELETE", f"/collections/{small}/versions/v1")
    api("DELETE", f"/collections/{small}/trash")
    wait_for_event(api, EventKind.TRASH_ENDED)
    events.get_by_role("button", name="Versions").click()

    expect(events.get_by_text("Version 1 deleted for good, before its time")).to_be_visible()


def test_new_events_appear_while_it_is_live(events, api):
    events.get_by_role("button", name="Live").click()
    api("POST", "/collections", {"name": "fresh.sql.gz"})

    expect(events.get_by_text("fresh.sql.gz").first).to_be_visible(timeout=30_000)


@pytest.mark.costly
@pytest.mark.parametrize(("title", "name"), [("CSV", "events.csv"), ("JSON lines", "events.jsonl")])
def test_the_events_of_the_filters_are_exported(signed_in, events, title, name):
    signed_in.go("#/events?group=collection")
    with events.expect_download() as download:
        events.get_by_role("button", name=title).click()
    text = Path(download.value.path()).read_text()
    found = (
        list(csv.DictReader(text.splitlines()))
        if name.endswith("csv")
        else [json.loads(line) for line in text.splitlines()]
    )

    assert name == download.value.suggested_filename
    assert {"collection"} == {one["kind"].partition(".")[0] for one in found}
    assert "collection.edited" in {one["kind"] for one in found}


def test_each_kind_of_the_service_has_a_text(pages):
    text = (pages / "components/event.js").read_text()

    assert [] == [kind.value for kind in EventKind if f'"{kind.value}"' not in text]


@pytest.mark.costly
def test_without_the_role_the_view_is_not_in_the_menu(console, api):
    console.sign_in(api.token(Role.LIST_TOKENS), "#/events")

    expect(console.page.get_by_text("This token may not see this")).to_be_visible()
    expect(console.page.locator("main")).to_contain_text(Role.VIEW_EVENTS)
    expect(console.page.get_by_role("link", name="Events")).to_have_count(0)


@pytest.mark.costly
def test_a_service_that_does_not_answer_leaves_what_was_read(signed_in, events):
    signed_in.expect("503")
    answer = {"status": 503, "body": "{}", "content_type": "application/problem+json"}
    events.route("**/api/v1/events?*", lambda route: route.fulfill(**answer))
    events.get_by_role("button", name="Live").click()

    expect(events.get_by_text("The service does not answer (503)")).to_be_visible(timeout=30_000)
    assert titles(events)


@pytest.mark.costly
@pytest.mark.parametrize(("theme", "width"), first_of([("light", "wide"), ("dark", "phone")]))
def test_axe_finds_nothing(open_console, service, theme, width):
    console = open_console(theme=theme, width=width)
    console.sign_in(service.admin, "#/events")
    console.page.get_by_role("listitem").filter(has_text="Collection edited").get_by_role("button").click()

    assert [] == console.violations()


@pytest.mark.costly
def test_names_of_collections_are_asked_for_again_after_a_failure(signed_in, collection):
    signed_in.expect("503")
    page, url = signed_in.page, "**/api/v1/collections?**"
    signed_in.go("#/more")
    page.route(url, lambda route: route.fulfill(status=503, body="{}", content_type="application/problem+json"))
    signed_in.go(f"#/events?collection={collection['id']}")
    row = page.get_by_role("listitem").filter(has_text="Collection created")
    expect(row.get_by_role("link")).to_have_text("collection")
    page.unroute(url)
    refresh(page)

    expect(row.get_by_role("link")).to_have_text("shop.sql.gz")


@pytest.mark.costly
def test_the_names_in_a_long_list_of_events_are_asked_for_again(signed_in, api):
    signed_in.expect("503")
    page = signed_in.page
    page.clock.install()
    now = datetime.now(UTC)
    made = api("POST", "/collections", {"name": "wanted.tar"})["id"]
    wait_for_event(api, EventKind.COLLECTION_CREATED)
    one = api("GET", "/events?limit=1")["items"][0]
    # More than 500 rows. Only the last ones are of the collection.
    rows = [
        one
        | {
            "id": 10_000 - at,
            "at": (now - timedelta(seconds=at)).isoformat(),
            "collection_id": made if at > 520 else None,
        }
        for at in range(600)
    ]

    def answer(route):
        query = dict(part.partition("=")[::2] for part in route.request.url.partition("?")[2].split("&"))
        begin, limit = int(query.get("cursor") or 0), int(query["limit"])
        end = begin + limit
        route.fulfill(json={"items": rows[begin:end], "next": str(end) if end < len(rows) else None})

    page.route("**/api/v1/events?*", answer)
    page.route("**/api/v1/collections?*", lambda route: route.fulfill(status=503, body="{}"))
    signed_in.go("#/events")
    for count in range(100, 551, 50):
        page.get_by_role("button", name="Show more").click()
        expect(page.locator("ul.list > li")).to_have_count(count)  # they push the button down, step by step
    page.unroute("**/api/v1/collections?*")
    page.clock.run_for(16_000)

    expect(page.get_by_text("wanted.tar").first).to_be_visible()
