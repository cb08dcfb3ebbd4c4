"""How a collection is restore-tested, in the web console: it is opened, saved and cancelled."""

import subprocess

import pytest
from playwright.sync_api import expect

ROWS = {"question": "SELECT count(*) FROM orders", "min": 1, "newest_within": "P1D"}
DUMP = b"BEGIN TRANSACTION;\nCREATE TABLE orders(n);\nINSERT INTO orders VALUES(1);\nCOMMIT;\n"


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    service = make_service(
        tmp_path_factory.mktemp("restores"),
        environment={"RESTORE_TESTS_ENGINES": "sqlite tar", "RESTORE_TESTS_SANDBOX": "/nowhere/frepo-restore.sock"},
    )
    service.start()
    yield service
    service.stop()


@pytest.fixture
def collection(api):
    made = api("POST", "/collections", {"name": "shop.sql"})["id"]
    api("PUT", f"/collections/{made}/versions", DUMP)
    api("PUT", f"/collections/{made}/restore-test", {"engine": "tar", "assertions": {"rows": ROWS, "old": ROWS}})
    return made


@pytest.fixture
def opened(signed_in, collection):
    """Open the dialog; return it, and what is sent."""
    sent = []
    signed_in.page.on("request", lambda one: one.method == "PATCH" and sent.append(one.post_data_json))
    signed_in.go(f"#/collections/{collection}/settings")
    signed_in.page.get_by_role("button", name="Choose engine and assertions").click()
    return signed_in.page.get_by_role("dialog"), sent


def test_only_what_was_touched_is_sent(opened, signed_in, api, collection):
    dialog, sent = opened
    save = dialog.get_by_role("button", name="Save", exact=True)
    expect(save).to_be_disabled()
    dialog.get_by_label("Engine").select_option("sqlite")
    rows = dialog.get_by_role("group", name="rows")
    rows.get_by_label("At least").fill("many")
    save.click()
    expect(rows.locator(".err")).to_contain_text("“many” is not a number")
    rows.get_by_label("At least").fill("5")
    dialog.get_by_role("button", name="Remove old").click()
    dialog.get_by_label("Name of a new assertion").fill("newest")
    dialog.get_by_role("button", name="Add assertion").click()
    dialog.get_by_role("group", name="newest").get_by_label("Question to the copy").fill("SELECT max(n) FROM orders")
    save.click()
    expect(dialog).to_have_count(0)

    card = signed_in.page.get_by_role("region", name="Restore test")
    expect(card).to_contain_text("Restored by the engine sqlite.")
    expect(card).to_contain_text("Compared: rows, newest.")
    [body] = sent
    assert ("sqlite", {"min": 5}, None) == (body["engine"], body["assertions"]["rows"], body["assertions"]["old"])
    found = api("GET", f"/collections/{collection}/restore-test")
    assert "sqlite" == found["engine"]
    assert (ROWS | {"min": 5}).items() <= found["assertions"]["rows"].items()
    assert ["newest", "rows"] == sorted(found["assertions"])


@pytest.mark.parametrize("way", ["Cancel", "Escape", "Close"])
def test_who_cancels_changes_nothing(opened, signed_in, api, collection, way):
    dialog, sent = opened
    before = api("GET", f"/collections/{collection}/restore-test")
    dialog.get_by_label("Engine").select_option("sqlite")
    if way == "Escape":
        signed_in.page.keyboard.press("Escape")
    else:
        dialog.get_by_role("button", name=way).click()
    expect(dialog).to_have_count(0)

    assert ([], before) == (sent, api("GET", f"/collections/{collection}/restore-test"))


def test_the_last_outcome_is_shown_with_its_reason(service, signed_in, api, collection):
    with pytest.raises(subprocess.CalledProcessError):  # there is no box, and so it ends with 1
        service.frepo("backup:test-restore", collection)
    signed_in.go(f"#/collections/{collection}/settings")

    last = api("GET", f"/collections/{collection}/restore-test")["last"]
    card = signed_in.page.get_by_role("region", name="Restore test")
    expect(card).to_contain_text("Version 1")
    expect(card).to_contain_text(last["outcome"])
    expect(card).to_contain_text(last["message"])
