"""What the page of a collection says about trouble: a banner for each cause, and what solves it."""

import re
import sqlite3
from datetime import UTC, datetime, timedelta

from playwright.sync_api import expect


def test_each_cause_has_a_banner_with_its_version_its_reason_and_one_main_button(signed_in, service, api):
    made = api("POST", "/collections", {"name": "troubled.bin", "expected_every": "P1D"})["id"]
    for size in (1000, 1000, 1000, 10):
        api("PUT", f"/collections/{made}/versions", (b"xy" * size)[:size])
    signed_in.go(f"#/collections/{made}")
    page, notes = signed_in.page, signed_in.page.locator("main > .note")
    expect(notes).to_have_count(1)
    expect(notes).to_contain_text(re.compile("Version 4 looks wrong.*smaller"))
    for button in ("Compare version 4", "Release version 4", "Delete version 4"):
        expect(notes.get_by_role("button", name=button)).to_be_visible()

    # Its row does not repeat them.
    row = page.get_by_role("table", name="Versions").locator("tbody tr").first
    expect(row).to_contain_text("Does not count, evicts nothing")
    expect(row.get_by_role("button", name=re.compile("Release|Compare"))).to_have_count(0)

    # Its job fails, too, and a stored version is lost; that nothing good arrives follows from both.
    run = {"outcome": "failed", "error_output": "pg_dump: error: no such table", "stored_nothing": True}
    api("POST", f"/collections/{made}/runs", run)
    lost = api("GET", f"/collections/{made}/versions/v1")
    due = [f"{datetime.now(UTC) - timedelta(days=days):%Y-%m-%d %H:%M:%S.%f}" for days in (3, 2, 1)]
    with sqlite3.connect(service.folder / "frepo.db") as database:
        times = "arrived_at = ?, due_at = ?, overdue_at = ?"
        database.execute(f"UPDATE collection SET {times} WHERE id = ?", (*due, made))
        database.execute("UPDATE object SET state = 'damaged' WHERE digest = ?", (lost["sha256"],))
        database.execute("UPDATE version SET created_at = ? WHERE collection_id = ? AND number < 4", (due[0], made))
    database.close()
    signed_in.go("#/more")
    signed_in.go(f"#/collections/{made}")
    expect(notes).to_have_count(3)
    damaged, failed, suspicious = (notes.nth(number) for number in range(3))
    expect(damaged).to_contain_text("Versions 3, 2, 1 cannot be read")
    expect(failed).to_contain_text(re.compile("The backup job failed.*pg_dump: error: no such table"))
    expect(failed).to_contain_text("Therefore: no backup for 3 days.")
    expect(failed.locator(".btn")).to_have_count(1)
    expect(suspicious).to_contain_text("Version 4 looks wrong")
    expect(page.locator("main .btn.pri:visible")).to_have_count(1)
    assert [] == signed_in.violations()
    damaged.get_by_role("button", name="Upload version 3 again").click()
    expect(page.get_by_text("Drop a file here")).to_be_visible()
    failed.get_by_role("link", name="See what it printed").click()
    expect(page.get_by_role("region", name="Runs")).to_contain_text("no such table")
