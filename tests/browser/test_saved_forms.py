"""A form sends only what was touched: each one is opened and saved with one other value, and the rest compared."""

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

MERGE_PATCH = {"Content-Type": "application/merge-patch+json"}
KEEP = {"daily": 5, "within": "30d", "timezone": "Europe/Warsaw"}
# Values that the fields of the forms show in another way, or not at all.
COLLECTION = {
    "name": "forms.sql",
    "description": " two  spaces ",
    "labels": ["b", "a"],
    "expected_every": "PT36H",
    "grace": "PT90M",
    "strategy": "keep",
    "strategy_options": KEEP,
    "limits": {"versions": 5, "version_size": 1_000_001, "total_size": 5_000_123},
    "guards": {"min_retention": "PT36H", "min_version_size": 1025, "on_suspicious": "mark"},
}


@pytest.fixture(scope="module")
def collection(api):
    made = api("POST", "/collections", COLLECTION)["id"]
    api("PUT", f"/collections/{made}/versions", bytes(range(250)) * 10)
    pin = {"pinned": True, "pinned_until": "2036-12-31T13:45:00Z", "pin_reason": " Accounts ", "note": "x"}
    api("PATCH", f"/collections/{made}/versions/v1", pin, MERGE_PATCH)
    return made


def difference(before, after):
    return {name: after[name] for name in after if before.get(name) != after[name]}


def save(console, place):
    place.get_by_role("button", name="Save", exact=True).click()
    console.settle()


@pytest.mark.parametrize(
    ("label", "typed", "change"),
    [
        ("Description", "other", {"description": "other"}),
        ("Labels", "c", {"labels": ["c"]}),
        ("It may be late by", "2 hours", {"grace": "PT2H"}),
        ("Daily", "6", {"daily": 6}),
        ("Most versions", "4", {"limits": {**COLLECTION["limits"], "versions": 4}}),
        ("Smallest believable version", "2 kB", {"min_version_size": 2000}),
    ],
)
def test_the_settings_of_a_collection(signed_in, api, collection, label, typed, change):
    api("PATCH", f"/collections/{collection}", COLLECTION, MERGE_PATCH)
    before = api("GET", f"/collections/{collection}")
    signed_in.go("#/more")
    signed_in.go(f"#/collections/{collection}/settings")
    form = signed_in.page.locator("form").first
    expect(form.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    form.get_by_label(label, exact=True).fill(typed)
    save(signed_in, form)

    found = difference(before, api("GET", f"/collections/{collection}"))
    found.pop("due_at", None), found.pop("overdue_at", None), found.pop("size_bounds", None)
    if "guards" in found:
        found = difference(before["guards"], found["guards"])
    if "strategy_options" in found:
        found = difference(before["strategy_options"], found["strategy_options"])
    assert change == found


@pytest.mark.parametrize(
    ("button", "label", "typed", "change"),
    [
        ("Pin of version 1", "Reason", "Accounts of 2026", {"pin_reason": "Accounts of 2026"}),
        ("Pin of version 1", "Until", "2037-01-02", {"pinned_until": "2037-01-02T00:00:00Z"}),
        ("Note of version 1", "Note", "checked", {"note": "checked"}),
    ],
)
def test_the_pin_and_the_note_of_a_version(signed_in, api, collection, button, label, typed, change):
    path = f"/collections/{collection}/versions/v1"
    before = api("GET", path)
    signed_in.go("#/more")
    signed_in.go(f"#/collections/{collection}")
    signed_in.page.get_by_role("button", name=button).click()
    dialog = signed_in.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    dialog.get_by_label(label, exact=True).fill(typed)
    save(signed_in, dialog)

    assert change == difference(before, api("GET", path))


def test_the_settings_of_a_file(signed_in, api):
    made = api("POST", "/files?name=forms.txt&tag=b&tag=a&public=true", b"a text")["name"]
    before = api("GET", f"/files/{made}")
    signed_in.go(f"#/files/{made}")
    panel = signed_in.page.locator("aside")
    panel.get_by_label("link only, not listed").check()
    with signed_in.page.expect_request(lambda one: one.method == "PATCH") as sent:
        save(signed_in, panel)

    assert {"public": False} == sent.value.post_data_json
    assert {"public": False} == difference(before, api("GET", f"/files/{made}"))


def test_a_token(signed_in, api):
    limits = {"tags": ["b", "a"], "ip_addresses": ["127.0.0.0/8"], "max_file_size": 1025}
    secret = api.token(Role.LIST_COLLECTIONS, name="before", restrictions=limits)
    path = f"/tokens/{api('GET', '', token=secret)['token']['fingerprint']}"
    api("PATCH", path, {"expires_at": "2036-05-04T03:02:01Z"}, MERGE_PATCH)
    before = api("GET", path)
    signed_in.go(f"#{path}")
    signed_in.page.get_by_role("button", name="Edit").click()
    dialog = signed_in.page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
    dialog.get_by_label("Name", exact=True).fill("after")
    save(signed_in, dialog)

    assert {"name": "after"} == difference(before, api("GET", path))
