"""The trash: versions and collections that were deleted, restored, or deleted for good."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from frepo_core.domain.permissions import READING
from frepo_core.domain.roles import Role
from support.scale import first_of

from .test_overview import FAILS
from .test_states import refresh


@pytest.fixture(scope="module")
def collection(api):
    """A collection with three versions, made for this module."""
    made = api("POST", "/collections", {"name": "shop.sql.gz", "limits": {"versions": 3}})["id"]
    for content in (b"one", b"two two", b"three"):
        api("PUT", f"/collections/{made}/versions", content)
    return made


def versions(api, collection):
    return [one["number"] for one in api("GET", f"/collections/{collection}/versions")["items"]]


def trashed(api, collection):
    return [one["number"] for one in api("GET", f"/collections/{collection}/trash")["items"]]


def trash(page, title="Trash"):
    return page.locator("section", has=page.get_by_role("heading", name=title, exact=True))


def test_a_deleted_version_is_restored(signed_in, api, collection):
    signed_in.go(f"#/collections/{collection}")
    page = signed_in.page
    page.get_by_role("button", name="Delete version 2").click()
    dialog = page.get_by_role("dialog", name="Delete version 2?")
    expect(dialog).to_contain_text("7 bytes, to the trash until ")
    dialog.get_by_role("button", name="Move 1 to trash").click()
    expect(trash(page).get_by_role("listitem")).to_contain_text("version 2 7 bytes, deleted")
    expect(page.get_by_role("region", name="Figures")).to_contain_text("Trash7 bytes")
    assert ([3, 1], [2]) == (versions(api, collection), trashed(api, collection))
    trash(page).get_by_role("button", name="Restore version 2").click()

    expect(page.locator("tbody tr")).to_have_count(3)
    expect(trash(page)).to_have_count(0)
    assert ([3, 2, 1], []) == (versions(api, collection), trashed(api, collection))


@pytest.mark.costly
def test_a_damaged_version_in_the_trash_says_so(signed_in, service, api):
    made = api("POST", "/collections", {"name": "lost.sql.gz"})["id"]
    version = api("PUT", f"/collections/{made}/versions", b"lost")
    next(service.storage.glob(f"{version['sha256'][:2]}/*")).unlink()
    api("DELETE", f"/collections/{made}/versions/v1")
    signed_in.go("#/health")
    signed_in.page.get_by_text(re.compile(r"jobs fine$")).click()
    signed_in.page.get_by_role("listitem").filter(has_text="verify").get_by_role("button", name="Run now").click()
    expect(signed_in.page.get_by_role("listitem").filter(has_text="verify")).to_contain_text(
        "damaged 1", timeout=30_000
    )

    signed_in.go(f"#/collections/{made}")

    expect(trash(signed_in.page).get_by_role("listitem")).to_contain_text("Damaged: it cannot be read")


@pytest.mark.costly
def test_several_versions_are_deleted_and_one_of_them_for_good(signed_in, api, collection):
    signed_in.go(f"#/collections/{collection}")
    page = signed_in.page
    page.get_by_role("checkbox", name="Select version 1").check()
    page.get_by_role("checkbox", name="Select version 2").check()
    page.get_by_role("button", name="Delete 2 versions").click()
    expect(page.get_by_role("dialog")).to_contain_text("versions 2, 1, 10 bytes, to the trash until ")
    page.get_by_role("button", name="Move 2 to trash").click()
    expect(trash(page).get_by_role("listitem")).to_have_count(2)
    trash(page).get_by_role("button", name="Delete now version 1").click()
    expect(page.get_by_role("dialog", name="Delete version 1 for good?")).to_contain_text("cannot be restored")
    page.get_by_role("button", name="Delete for good").click()

    expect(trash(page).get_by_role("listitem")).to_have_count(1)
    assert ([3], [2]) == (versions(api, collection), trashed(api, collection))


@pytest.mark.costly
def test_a_version_in_the_trash_is_downloaded_and_stays_there(open_console, service, api):
    made = api("POST", "/collections", {"name": "dump.sql"})["id"]
    api("PUT", f"/collections/{made}/versions", b"two two")
    api("DELETE", f"/collections/{made}/versions/v1")
    console = open_console(script="delete window.showSaveFilePicker")
    console.sign_in(service.admin, f"#/collections/{made}")
    with console.page.expect_download() as saved:
        trash(console.page).get_by_role("button", name="Download version 1").click()
    expect(console.page.get_by_text("Complete, the SHA-256 is right")).to_be_visible()

    assert ("dump-v1.sql", b"two two") == (saved.value.suggested_filename, Path(saved.value.path()).read_bytes())
    assert [1] == trashed(api, made)


@pytest.mark.costly
def test_the_limit_is_raised_and_a_version_restored_in_one_step_that_says_so(signed_in, api):
    signed_in.expect("409")
    full = api("POST", "/collections", {"name": "full.sql", "limits": {"versions": 6, "total_size": 0}})["id"]
    for number in range(7):
        api("PUT", f"/collections/{full}/versions", b"night %d" % number)
    signed_in.go(f"#/collections/{full}")
    page = signed_in.page
    expect(trash(page)).to_contain_text("evicted")
    trash(page).get_by_role("button", name="Restore version 1").click()
    dialog = page.get_by_role("dialog", name="Restore version 1?")
    expect(dialog).to_contain_text("Most versions: from 6 to 7")
    assert [] == signed_in.violations()
    dialog.get_by_role("button", name="Cancel").click()
    assert (6, [1]) == (api("GET", f"/collections/{full}")["limits"]["versions"], trashed(api, full))
    trash(page).get_by_role("button", name="Restore version 1").click()
    dialog.get_by_role("button", name="Raise the limit to 7 and restore").click()
    expect(page.locator("tbody tr")).to_have_count(7)

    assert (7, []) == (api("GET", f"/collections/{full}")["limits"]["versions"], trashed(api, full))


@pytest.mark.costly
def test_who_may_not_raise_the_limit_is_told_why_a_version_is_not_restored(console, api):
    console.expect("409")
    full = api("POST", "/collections", {"name": "full.sql", "limits": {"versions": 1}})["id"]
    for content in (b"one", b"two"):
        api("PUT", f"/collections/{full}/versions", content)
    secret = api.token(Role.VIEW_ALL_COLLECTIONS, Role.LIST_VERSIONS, Role.RESTORE_FROM_TRASH)
    fingerprint = api("GET", "", token=secret)["token"]["fingerprint"]
    api("PUT", f"/collections/{full}/access/{fingerprint}")
    console.sign_in(secret, f"#/collections/{full}")
    trash(console.page).get_by_role("button", name="Restore version 1").click()

    expect(trash(console.page).get_by_role("alert")).to_contain_text("1 versions of 1")
    assert ([2], [1]) == (versions(api, full), trashed(api, full))


@pytest.mark.costly
def test_a_deleted_collection_is_restored_with_its_versions(signed_in, api, collection):
    signed_in.go(f"#/collections/{collection}")
    page = signed_in.page
    before = versions(api, collection)
    page.get_by_role("button", name="Delete collection").click()
    dialog = page.get_by_role("dialog", name="Delete shop.sql.gz?")
    expect(dialog).to_contain_text(f"with {len(before)} version")
    expect(dialog).to_contain_text("to the trash until ")
    dialog.get_by_role("button", name="Delete collection").click()
    deleted = trash(page, "Deleted collections")
    expect(deleted.get_by_role("listitem")).to_contain_text("shop.sql.gz")
    assert collection not in {one["id"] for one in api("GET", "/collections")["items"]}
    deleted.get_by_role("button", name="Restore shop.sql.gz").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("shop.sql.gz")
    assert before == versions(api, collection)


@pytest.mark.costly
def test_a_deleted_collection_is_deleted_for_good(signed_in, api):
    made = api("POST", "/collections", {"name": "old.sql.gz"})["id"]
    api("PUT", f"/collections/{made}/versions", b"old")
    api("DELETE", f"/collections/{made}?versions=trash")
    signed_in.go("#/collections")
    deleted = trash(signed_in.page, "Deleted collections")
    deleted.get_by_role("button", name="Delete now old.sql.gz").click()
    signed_in.page.get_by_role("button", name="Delete for good").click()

    expect(deleted).to_have_count(0)
    assert [] == api("GET", "/deleted-collections")["items"]


@pytest.fixture
def deleted(api, collection):
    """The collection has a version in the trash, and another collection was deleted."""
    made = api("POST", "/collections", {"name": "gone.sql.gz"})["id"]
    api("PUT", f"/collections/{made}/versions", b"gone")
    api("DELETE", f"/collections/{made}?versions=trash")
    number = api("PUT", f"/collections/{collection}/versions", b"one more")["number"]
    api("DELETE", f"/collections/{collection}/versions/v{number}")
    return collection


@pytest.mark.costly
def test_who_may_not_delete_is_not_offered_to_end_an_entry(console, api, deleted):
    roles = (Role.LIST_COLLECTIONS, Role.LIST_VERSIONS, Role.RESTORE_FROM_TRASH, Role.MODIFY_ANY_COLLECTION)
    console.sign_in(api.token(*roles), f"#/collections/{deleted}")
    expect(trash(console.page).get_by_role("button", name="Restore version").first).to_be_visible()
    expect(console.page.get_by_role("button", name="Delete now")).to_have_count(0)
    console.go("#/collections")

    expect(console.page.get_by_role("button", name="Restore gone.sql.gz").first).to_be_visible()
    expect(console.page.get_by_role("button", name="Delete now")).to_have_count(0)


def answer_as_read_only(route):
    answer = route.fetch().json()
    may = [action for action in answer["may"] if action in READING]
    route.fulfill(json=answer | {"read_only": True, "may": may})


@pytest.mark.costly
def test_a_read_only_service_shows_the_trash_without_buttons(console, service, deleted):
    for path in ("**/api/v1", f"**/collections/{deleted}"):
        console.page.route(path, answer_as_read_only)
    console.sign_in(service.admin, f"#/collections/{deleted}")
    expect(trash(console.page)).to_contain_text("deleted")
    expect(console.page.get_by_role("button", name="Restore")).to_have_count(0)
    console.go("#/collections")

    expect(trash(console.page, "Deleted collections")).to_contain_text("gone.sql.gz")
    expect(console.page.get_by_role("button", name="Restore")).to_have_count(0)
    expect(console.page.get_by_role("button", name="Delete now")).to_have_count(0)


@pytest.mark.costly
def test_without_a_trash_a_deletion_is_named_as_one(console, service, api, deleted):
    about = api("GET", "") | {"trash_keep": None}
    console.page.route("**/api/v1", lambda route: route.fulfill(json=about))
    console.sign_in(service.admin, f"#/collections/{deleted}")
    console.page.get_by_role("button", name="Delete version").first.click()

    expect(console.page.get_by_role("dialog")).to_contain_text("for good: this service has no trash")
    expect(console.page.get_by_role("dialog").get_by_role("button", name="Delete 1 version")).to_be_visible()


# The path of each list of deleted things, and the view that has it.
LISTS = {
    "Trash": ("/api/v1/collections/{}/trash?*", "#/collections/{}"),
    "Deleted collections": ("/api/v1/deleted-collections?*", "#/collections"),
}


@pytest.mark.costly
@pytest.mark.parametrize("title", LISTS)
def test_a_list_of_deleted_things_that_cannot_be_read_says_why_and_keeps_what_was_read(signed_in, deleted, title):
    signed_in.expect("503")
    page = signed_in.page
    path, fragment = (text.format(deleted) for text in LISTS[title])
    page.route(f"**{path}", lambda route: route.fulfill(**FAILS))
    signed_in.go(fragment)
    shown = trash(page, title)
    expect(shown.get_by_role("alert")).to_contain_text("The service does not answer (503)")
    expect(shown.get_by_role("listitem")).to_have_count(0)
    page.unroute(f"**{path}")
    shown.get_by_role("button", name="Try now").click()
    expect(shown.get_by_role("alert")).to_have_count(0)
    expect(shown.get_by_role("listitem").first).to_be_visible()
    entries = shown.get_by_role("listitem").count()
    page.route(f"**{path}", lambda route: route.fulfill(**FAILS))
    refresh(page)

    expect(shown.get_by_role("alert")).to_contain_text("What you see is from ")
    expect(shown.get_by_role("listitem")).to_have_count(entries)


@pytest.mark.parametrize(("theme", "width"), first_of([("dark", "wide"), ("light", "phone")]))
def test_axe_finds_nothing(open_console, service, deleted, theme, width):
    console = open_console(theme=theme, width=width)
    console.sign_in(service.admin)
    for fragment in (f"#/collections/{deleted}", "#/collections"):
        console.go(fragment)
        expect(console.page.get_by_role("button", name="Delete now").first).to_be_visible()
        assert [] == console.violations()
