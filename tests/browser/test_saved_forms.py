"""A form sends only what was touched: each one is opened and saved with one other value, and the rest compared."""

import re

import pytest
from playwright.sync_api import expect

from frepo_core.domain.roles import Role

from .conftest import MERGE_PATCH

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
def service(tmp_path_factory, make_service):
    """A service with a choice of storages, and with compact storage."""
    folder = tmp_path_factory.mktemp("forms")
    environment = {"STORAGES": "archive offsite", "COMPACT": "true"}
    for name in ("archive", "offsite"):
        environment[f"STORAGE_{name.upper()}_ADAPTER"] = "local"
        environment[f"STORAGE_{name.upper()}_DIRECTORY"] = str(folder / name)
    service = make_service(folder, environment=environment)
    service.start()
    yield service
    service.stop()


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


def test_the_settings_of_a_collection(signed_in, api, collection):
    for label, typed, change in [
        ("Description", "other", {"description": "other"}),
        ("Labels", "c", {"labels": ["c"]}),
        ("It may be late by", "2 hours", {"grace": "PT2H"}),
        ("Daily", "6", {"daily": 6}),
        ("Most versions", "4", {"limits": {**COLLECTION["limits"], "versions": 4}}),
        ("Smallest believable version", "2 kB", {"min_version_size": 2000}),
    ]:
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
        assert change == found, label


@pytest.mark.parametrize(
    ("fragment", "label"),
    [
        ("#/collections/{}/settings", "Description"),
        ("#/collections/new", "Description"),
        ("#/tokens/new", "Only from these addresses"),
    ],
)
@pytest.mark.parametrize("size", [(1300, 860), (390, 844)])
def test_the_buttons_of_a_long_form_are_in_reach(signed_in, collection, fragment, label, size):
    page = signed_in.page
    page.set_viewport_size({"width": size[0], "height": size[1]})
    signed_in.go(fragment.format(collection))
    form = page.locator("form").last if fragment.endswith("new") else page.locator("form").first
    form.get_by_label(label, exact=True).fill("10.0.0.1")

    button = form.get_by_role("button", name=re.compile("^(Save|Create)"))
    seen = "(one) => { const { left, top, width, height } = one.getBoundingClientRect();"
    seen += " return one.contains(document.elementFromPoint(left + width / 2, top + height / 2)); }"
    assert button.evaluate(seen), "nobody has to scroll to it"
    page.set_viewport_size({"width": 1300, "height": 860})
    signed_in.go("#/more")


def test_the_pin_and_the_note_of_a_version(signed_in, api, collection):
    path = f"/collections/{collection}/versions/v1"
    for button, label, typed, change in [
        ("Pin of version 1", "Reason", "Accounts of 2026", {"pin_reason": "Accounts of 2026"}),
        ("Pin of version 1", "Until", "2037-01-02", {"pinned_until": "2037-01-02T00:00:00Z"}),
        ("Note of version 1", "Note", "checked", {"note": "checked"}),
    ]:
        before = api("GET", path)
        signed_in.go("#/more")
        signed_in.go(f"#/collections/{collection}")
        signed_in.page.get_by_role("button", name=button).click()
        dialog = signed_in.page.get_by_role("dialog")
        expect(dialog.get_by_role("button", name="Save", exact=True)).to_be_disabled()
        dialog.get_by_label(label, exact=True).fill(typed)
        save(signed_in, dialog)

        assert change == difference(before, api("GET", path)), label


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


def test_a_lock_is_extended_from_its_present_length(signed_in, api):
    path = f"/collections/{api('POST', '/collections', COLLECTION | {'name': 'locked.sql', 'locked': 'P30D'})['id']}"
    before = api("GET", path)
    signed_in.go(f"#{path}/settings")
    signed_in.page.get_by_role("button", name="Extend the lock").click()
    dialog = signed_in.page.get_by_role("dialog", name="Extend the lock of this collection")
    expect(dialog).to_contain_text("Now each version is locked for 30 days.")
    dialog.get_by_label("For how long").fill("6w")
    dialog.get_by_label("I know that nobody can undo this").check()
    with signed_in.page.expect_request(lambda one: one.method == "PATCH") as sent:
        dialog.get_by_role("button", name="Lock", exact=True).click()
    expect(dialog).to_have_count(0)

    assert {"locked": "P6W"} == sent.value.post_data_json
    assert {"locked": "P42D"} == difference(before, api("GET", path))


def test_the_storages_of_a_collection(signed_in, api):
    path = f"/collections/{api('POST', '/collections', COLLECTION | {'name': 'stored.sql'})['id']}"
    for label, value, change in [
        ("Second copies are in", "offsite", {"mirror": "offsite"}),
        ("Versions are stored in", "archive", {"storage": "archive"}),
        ("Second copies are in", "none", {"mirror": "none"}),
    ]:
        before = api("GET", path)
        signed_in.go("#/more")
        signed_in.go(f"#{path}/settings")
        signed_in.page.get_by_label(label).select_option(value)
        with signed_in.page.expect_request(lambda one: one.method == "PATCH") as sent:
            signed_in.page.get_by_role("button", name="Change storages").click()
        signed_in.settle()

        assert (change, change) == (sent.value.post_data_json, difference(before, api("GET", path)))


def test_the_storages_of_many(signed_in, api):
    bodies = [{"mirror": "offsite"}, {"storage": "archive", "mirror": "none"}]
    made = [
        api("POST", "/collections", COLLECTION | body | {"name": f"many-{number}.sql"})["id"]
        for number, body in enumerate(bodies)
    ]
    before = [api("GET", f"/collections/{one}") for one in made]
    signed_in.go("#/collections?q=many-&sort=name")
    signed_in.page.get_by_role("checkbox", name="Select all").click()
    signed_in.page.get_by_role("button", name="Storages").click()
    dialog = signed_in.page.get_by_role("dialog", name="Storages of 2 collections")
    dialog.get_by_label("Versions are stored in").select_option("archive")
    dialog.get_by_role("button", name="Change 1 collection", exact=True).click()
    expect(dialog).to_have_count(0)

    found = [difference(one, api("GET", f"/collections/{one['id']}")) for one in before]
    assert [{"storage": "archive"}, {}] == found


def test_the_group_of_a_collection(signed_in, api):
    path = f"/collections/{api('POST', '/collections', COLLECTION | {'name': 'grouped.sql'})['id']}"
    before = api("GET", path)
    signed_in.go(f"#{path}/settings")
    field = signed_in.page.get_by_label("Group of compact storage")
    expect(field).to_have_accessible_description(re.compile("a member can find out whether another one has versions"))
    signed_in.expect("status of 400")
    field.fill("all hosts")
    save(signed_in, signed_in.page)
    expect(field).to_have_accessible_description(re.compile("at most 64 letters, digits, dots"))
    field.fill(" hosts ")
    with signed_in.page.expect_request(lambda one: one.method == "PATCH") as sent:
        save(signed_in, signed_in.page)

    change = {"compact_group": "hosts"}
    assert (change, change) == (sent.value.post_data_json, difference(before, api("GET", path)))
    signed_in.go(f"#{path}")
    expect(signed_in.page.get_by_role("region", name="Figures")).to_contain_text("compact storage in the group hosts")
    signed_in.go(f"#{path}/settings")
    field.fill("")
    save(signed_in, signed_in.page)
    assert {} == difference(before, api("GET", path))


def test_the_group_of_many(signed_in, api):
    bodies = [{}, {"compact_group": "hosts"}]
    made = [
        api("POST", "/collections", COLLECTION | body | {"name": f"group-{number}.sql"})["id"]
        for number, body in enumerate(bodies)
    ]
    before = [api("GET", f"/collections/{one}") for one in made]
    signed_in.go("#/collections?q=group-&sort=name")
    signed_in.page.get_by_role("checkbox", name="Select all").click()
    signed_in.page.get_by_role("button", name="Compact group").click()
    dialog = signed_in.page.get_by_role("dialog", name="Compact group of 2 collections")
    expect(dialog).to_contain_text("none or hosts")
    dialog.get_by_label("Group of compact storage", exact=True).fill("hosts")
    expect(dialog).to_contain_text("group of compact storage: none → hosts")
    dialog.get_by_role("button", name="Change 1 collection", exact=True).click()
    expect(dialog).to_have_count(0)

    found = [difference(one, api("GET", f"/collections/{one['id']}")) for one in before]
    assert [{"compact_group": "hosts"}, {}] == found


def test_the_access_of_a_token(signed_in, api, collection):
    path = f"/collections/{collection}"
    tokens = [api("GET", "", token=api.token(Role.UPLOAD_VERSIONS, name=name))["token"] for name in ("old", "new")]
    old, new = (f"/tokens/{token['fingerprint']}" for token in tokens)
    api("PUT", f"{path}/access/{tokens[0]['fingerprint']}")
    before = [api("GET", one) for one in (path, old, f"{path}/access")]
    signed_in.go(f"#{path}/access")
    signed_in.page.get_by_role("button", name="Grant access").click()
    dialog = signed_in.page.get_by_role("dialog")
    dialog.get_by_label("Token").select_option(tokens[1]["fingerprint"])
    dialog.get_by_role("button", name="Grant access").click()
    expect(dialog).to_have_count(0)

    [same, unchanged, access] = [api("GET", one) for one in (path, old, f"{path}/access")]
    assert before[0] == same
    assert set(difference(before[1], unchanged)) <= {"last_used_at", "last_used_from"}, "these are written later"
    added = [one for one in access["items"] if one not in before[2]["items"]]
    assert ([tokens[1]["fingerprint"]], len(before[2]["items"]) + 1) == (
        [one["fingerprint"] for one in added],
        len(access["items"]),
    )
    assert api("GET", new)["name"] == "new"


def test_an_alias_of_a_file(signed_in, api):
    made = api("POST", "/files?name=aliased.txt&tag=b&tag=a", b"an aliased text")["name"]
    api("PUT", "/aliases/first.txt", {"file": made})
    before = (api("GET", f"/files/{made}"), api("GET", "/aliases")["items"])
    signed_in.go(f"#/files/{made}")
    signed_in.page.get_by_label("Alias", exact=True).fill("second.txt")
    signed_in.page.get_by_role("button", name="Add", exact=True).click()
    expect(signed_in.page.get_by_role("button", name="Remove the alias second.txt")).to_be_visible()

    aliases = api("GET", "/aliases")["items"]
    assert before == (api("GET", f"/files/{made}"), [one for one in aliases if one["alias"] != "second.txt"])
    assert [made] == [one["file"] for one in aliases if one["alias"] == "second.txt"]
