"""Several storages in the web console: the storage of a collection, its second copies, and how far behind they are."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.costly


@pytest.fixture(scope="module")
def service(tmp_path_factory, make_service):
    folder = tmp_path_factory.mktemp("storages")
    environment = {"MAX_UPLOAD_SIZE": "0", "STORAGES": "archive offsite", "MIRROR": "offsite"}
    for name in ("archive", "offsite"):
        environment |= {f"STORAGE_{name.upper()}_ADAPTER": "local"}
        environment |= {f"STORAGE_{name.upper()}_DIRECTORY": str(folder / name)}
    service = make_service(folder, environment=environment)
    service.start()
    yield service
    service.stop()


def test_a_collection_is_moved_and_its_copies_too(signed_in, api):
    made = api("POST", "/collections", {"name": "moved.tar"})["id"]
    api("PUT", f"/collections/{made}/versions", b"kept")
    signed_in.go("#/")
    card = signed_in.page.locator("section.card", has=signed_in.page.get_by_role("heading", name="Second copy"))
    expect(card).to_contain_text("offsite")
    signed_in.go(f"#/collections/{made}/settings")
    page = signed_in.page
    page.get_by_label("Versions are stored in").select_option("archive")
    page.get_by_label("Second copies are in").select_option("none")
    page.get_by_role("button", name="Change storages").click()
    expect(page.get_by_role("button", name="Change storages")).to_be_disabled()
    page.get_by_role("button", name="Move all into archive").click()
    expect(page.get_by_role("button", name="Move all into archive")).to_have_count(0)

    found = api("GET", f"/collections/{made}")
    assert ("archive", "none") == (found["storage"], found["mirror"])
    page.get_by_label("Second copies are in").select_option("archive")
    signed_in.expect("400")
    page.get_by_role("button", name="Change storages").click()
    expect(page.get_by_text("the versions themselves are in 'archive'")).to_be_visible()


def test_the_storages_of_many_are_changed_at_once(signed_in, api):
    made = [api("POST", "/collections", {"name": f"many-{number}.tar"})["id"] for number in range(2)]
    signed_in.go("#/collections?q=many-&sort=name")
    page = signed_in.page
    page.get_by_role("checkbox", name="Select all").click()
    page.get_by_role("button", name="Storages").click()
    dialog = page.get_by_role("dialog", name="Storages of 2 collections")
    changes = dialog.get_by_role("region", name="What would change")
    change = dialog.get_by_role("button", name="Change 2 collections")
    expect(dialog).to_contain_text("Nothing is changed yet.")
    expect(dialog.get_by_role("button", name="Change", exact=True)).to_be_disabled()
    dialog.get_by_label("Versions are stored in").select_option("archive")
    dialog.get_by_label("Second copies are in").select_option("none")
    expect(changes).to_contain_text("versions are stored in: the first storage → archive")
    expect(changes).to_contain_text("second copies are in: as the service says → nowhere")
    change.click()
    expect(dialog).to_have_count(0)

    found = [api("GET", f"/collections/{one}") for one in made]
    assert [("archive", "none")] * 2 == [(one["storage"], one["mirror"]) for one in found]
