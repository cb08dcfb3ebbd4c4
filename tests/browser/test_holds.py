"""What holds versions, in the web console: pins and locks."""

import pytest
from playwright.sync_api import expect

from .conftest import open_collection

pytestmark = pytest.mark.costly


def test_a_version_is_pinned_by_a_key_and_gets_a_note(signed_in, world, api):
    page = open_collection(signed_in, world, "late.tar")
    row = page.locator("tbody tr").filter(has=page.get_by_role("button", name="Note of version 1"))
    row.focus()
    page.keyboard.press("p")
    expect(row).to_contain_text("Pinned")
    page.keyboard.press("p")
    page.get_by_label("Reason").fill("Accounts of 2026")
    page.get_by_label("Until").fill("2036-12-31")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Accounts of 2026, pinned until")
    page.get_by_role("button", name="Note of version 1").click()
    page.get_by_label("Note", exact=True).fill("Before the move")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Before the move")

    version = api("GET", f"/collections/{world['late.tar']}/versions/v1")
    assert ("2036-12-31T00:00:00Z", "Before the move") == (version["pinned_until"], version["note"])
    page.get_by_role("button", name="Pin of version 1").click()
    page.get_by_role("button", name="Unpin").click()
    expect(row).not_to_contain_text("Pinned")


def test_a_collection_is_locked_after_a_question(signed_in, world, api):
    made = api("POST", "/collections", {"name": "locked.tar"})["id"]
    api("PUT", f"/collections/{made}/versions", b"kept")
    signed_in.go(f"#/collections/{made}/settings")
    page = signed_in.page
    page.get_by_role("button", name="Lock versions").click()
    page.get_by_label("For how long").fill("soon")
    page.get_by_label("I know that nobody can undo this").check()
    page.get_by_role("button", name="Lock", exact=True).click()
    expect(page.get_by_role("dialog").locator(".err").first).to_contain_text("“soon” is not a duration")
    page.get_by_label("For how long").fill("60d")
    page.get_by_role("button", name="Lock", exact=True).click()
    expect(page.get_by_role("button", name="Extend the lock")).to_be_visible()

    assert "P60D" == api("GET", f"/collections/{made}")["locked"]
    signed_in.go(f"#/collections/{made}")
    expect(page.locator("tbody tr")).to_contain_text("Locked until")
    expect(page.get_by_role("button", name="Delete version 1")).to_have_count(0)
