"""The report about restores in the view Health."""

import re

import pytest
from playwright.sync_api import expect

from support.wire import eventually


@pytest.fixture(scope="module", autouse=True)
def sent(api):
    """A collection with one version, of which a backup is expected each day."""
    made = api("POST", "/collections", {"name": "evident.sql", "expected_every": "P1D"})
    api("PUT", f"/collections/{made['id']}/versions", b"precious")
    return made


def test_it_shows_each_collection_and_saves_a_page_to_print(signed_in, sent):
    signed_in.go("#/health")
    page = signed_in.page
    page.get_by_role("link", name="Evidence").click()
    expect(page).to_have_url(re.compile("#/health/evidence$"))

    row = page.get_by_role("row").filter(has_text="evident.sql")
    expect(row.get_by_role("link", name="evident.sql")).to_have_attribute("href", f"#/collections/{sent['id']}")
    expect(row).to_contain_text("never")
    expect(row).to_contain_text("0 of 0")
    with page.expect_download() as saving:
        page.get_by_role("button", name="Page to print").click()
    text = saving.value.path().read_text()
    assert text.startswith("<!doctype html>")
    assert "evident.sql" in text


def test_it_names_what_people_did_and_to_which_collection(signed_in, api, sent):
    made = api("POST", "/collections", {"name": "acted.sql"})["id"]
    api("PUT", f"/collections/{made}/versions", b"one")
    api("DELETE", f"/collections/{made}/versions/v1")
    # A report ends at the second of its making, and an event has its place a moment after its fact.
    assert eventually(["version.deleted"], lambda: [act["kind"] for act in api("GET", "/reports/restores")["acts"]])
    signed_in.go("#/health/evidence")

    act = signed_in.page.get_by_role("listitem").filter(has_text="Version 1 deleted")
    expect(act.get_by_role("link", name="acted.sql")).to_have_attribute("href", f"#/collections/{made}")
    row = signed_in.page.get_by_role("row").filter(has_text="acted.sql")
    expect(row.locator(".late")).to_have_text("never")
