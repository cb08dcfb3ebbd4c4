"""Each dialog that asks before it removes something: Cancel, Escape and the cross leave the thing there."""

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

QUESTIONS = (
    ("collections/{collection}", "Delete collection"),
    ("collections/{collection}", "Delete version 2"),
    ("collections/{collection}", "Delete now version 1"),
    ("collections/{collection}/access", "Remove"),
    ("collections", "Delete now gone.sql"),
    ("tokens/{token}", "Revoke"),
    ("files/{file}", "Delete"),
)
WAYS = ("Cancel", "Escape", "Close")


@pytest.fixture(scope="module")
def things(api):
    """A collection with a version, a trash and a token; a deleted collection; and a file."""
    made, gone = (api("POST", "/collections", {"name": name})["id"] for name in ("kept.sql", "gone.sql"))
    for content in (b"one", b"two"):
        api("PUT", f"/collections/{made}/versions", content)
    api("DELETE", f"/collections/{made}/versions/v1")
    api("PUT", f"/collections/{gone}/versions", b"gone")
    api("DELETE", f"/collections/{gone}?versions=trash")
    token = api("GET", "", token=api.token(Role.UPLOAD_VERSIONS, name="cron"))["token"]["fingerprint"]
    api("PUT", f"/collections/{made}/access/{token}")
    return {"collection": made, "token": token, "file": api("POST", "/files?name=kept.txt", b"kept")["name"]}


@pytest.fixture
def read_all(api, things):
    """Return what is there."""
    base = f"/collections/{things['collection']}"
    paths = ("/collections", f"{base}/versions", f"{base}/trash", f"{base}/access", "/deleted-collections", "/files")

    def read_all():
        tokens = [one["fingerprint"] for one in api("GET", "/tokens")["items"]]
        return tokens, [api("GET", path)["items"] for path in paths]

    return read_all


def refuse(page, way):
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Cancel")).to_be_focused()
    if way == "Escape":
        page.keyboard.press("Escape")
    else:
        dialog.get_by_role("button", name=way).click()
    expect(dialog).to_have_count(0)


def test_who_does_not_confirm_changes_nothing(signed_in, things, read_all):
    page, before, removals = signed_in.page, read_all(), []
    page.on("request", lambda one: one.method in {"DELETE", "POST", "PATCH"} and removals.append(one.url))
    for place, button in QUESTIONS:
        signed_in.go(f"#/{place.format(**things)}")
        for way in WAYS:
            page.get_by_role("button", name=button, exact=button != "Remove").first.click()
            refuse(page, way)
        signed_in.settle()
    signed_in.go("#/collections")
    page.get_by_role("checkbox", name="Select kept.sql").check()
    for way in WAYS:
        page.get_by_role("button", name="Delete", exact=True).click()
        refuse(page, way)
    signed_in.settle()

    assert (before, []) == (read_all(), removals)
