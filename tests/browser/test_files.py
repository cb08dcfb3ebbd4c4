"""The view Files: uploads of many, the gallery and the list, links, aliases, and the deletion of one."""

import re

import pytest
from playwright.sync_api import expect

from demo.images import draw_landscape
from frepo_core.domain.roles import Role
from support.scale import first_of

from .test_overview import FAILS

PICTURE = draw_landscape("sunset")
DROP = """async ([names, text]) => {
  const data = new DataTransfer();
  for (const name of names) data.items.add(new File([`${text} ${name}`], name));
  const options = { dataTransfer: data, bubbles: true, cancelable: true };
  for (const kind of ["dragover", "drop"]) document.body.dispatchEvent(new DragEvent(kind, options));
}"""


@pytest.fixture(scope="module", autouse=True)
def picture(api):
    """The service has a picture with a tag."""
    return api("POST", "/files?name=sunset.png&tag=web&public=true", PICTURE)


@pytest.fixture
def files(signed_in):
    signed_in.go("#/files")
    return signed_in.page


def uploads(page):
    return page.get_by_role("region", name="Uploads").get_by_role("listitem")


def names(api):
    return {one["requested_name"] for one in api("GET", "/files?limit=500")["items"]}


def test_many_files_are_dropped_with_their_tags(files, api):
    files.get_by_text("Options for new files").click()
    files.get_by_label("Tags", exact=True).last.fill("Press, 2026")
    files.evaluate(DROP, [[f"note-{number}.txt" for number in range(5)], "dropped"])

    expect(files.get_by_text("5 of 5 done")).to_be_visible()
    found = api("GET", "/files?q=note-")["items"]
    assert {("2026", "press")} == {tuple(one["tags"]) for one in found}
    assert 5 == len(found)
    expect(files.get_by_role("link", name="note-4.txt")).to_be_visible()
    files.get_by_role("button", name="Clear", exact=True).click()
    expect(uploads(files)).to_have_count(0)


@pytest.mark.costly
def test_the_digest_is_sent_and_a_known_content_keeps_its_link(files, api):
    with files.expect_request(lambda one: one.method == "POST") as sent:
        files.locator("input[type=file]").set_input_files({"name": "again.txt", "mimeType": "", "buffer": b"same"})
    expect(files.get_by_text("stored", exact=False).first).to_be_visible()
    files.locator("input[type=file]").set_input_files({"name": "other.txt", "mimeType": "", "buffer": b"same"})

    expect(files.get_by_text("already stored as")).to_be_visible()
    assert sent.value.headers["repr-digest"].startswith("sha-256=:")
    assert "other.txt" not in names(api)


def test_a_refused_file_says_why(console, api):
    console.expect("403", "400", "415")
    console.sign_in(api.token(Role.UPLOAD_IMAGES, Role.VIEW_LISTING, name="pictures"), "#/files")
    console.page.evaluate(DROP, [["text.txt"], "this is no picture"])

    expect(uploads(console.page).get_by_role("alert")).to_contain_text("type")


@pytest.mark.costly
def test_an_upload_stays_cancelled_if_its_worker_is_loaded_later(files, api):
    waiting = []
    files.route("**/lib/sha256_worker.js", lambda route: waiting.append(route))  # noqa: PLW0108  # Playwright marks the function
    files.evaluate(DROP, [["early.txt"], "early"])
    files.get_by_role("button", name="Cancel early.txt").click()
    files.wait_for_timeout(50)
    for route in waiting:
        route.continue_()
    files.wait_for_timeout(300)
    expect(uploads(files)).to_contain_text("Cancelled")
    files.unroute("**/lib/sha256_worker.js")
    files.get_by_role("button", name="Retry").click()

    expect(files.get_by_text("1 of 1 done")).to_be_visible()
    assert "early.txt" in names(api)


@pytest.mark.costly
def test_a_lost_connection_is_tried_again_by_itself(signed_in, files, api):
    signed_in.expect("ERR_", "Failed to load")
    files.route(
        "**/api/v1/files?*",
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
        times=1,
    )
    files.evaluate(DROP, [["lost.txt"], "lost"])

    expect(files.get_by_text("The connection was lost")).to_be_visible()
    expect(files.get_by_text("1 of 1 done")).to_be_visible(timeout=30_000)
    assert "lost.txt" in names(api)


@pytest.mark.costly
def test_gallery_and_list_show_the_same_and_are_found_by_name(files):
    image = files.get_by_role("listitem").filter(has_text="sunset.png").locator("img")
    assert (
        files.evaluate("async (image) => { await image.decode(); return image.naturalWidth }", image.element_handle())
        > 0
    )
    files.get_by_role("button", name="List", exact=True).click()
    files.get_by_label("Search names").fill("sunset")
    expect(files.locator("tbody tr")).to_have_count(1)

    expect(files).to_have_url(re.compile(re.escape("#/files?view=list&q=sunset")))
    expect(files.locator("tbody tr")).to_contain_text("public")


@pytest.mark.costly
def test_a_file_gets_tags_an_alias_and_links(signed_in, files, api, picture):
    signed_in.go(f"#/files/{picture['name']}")
    files.get_by_label("link only, not listed").check()
    files.get_by_label("Tags", exact=True).last.fill("web, summer")
    files.get_by_role("button", name="Save").click()
    expect(files.get_by_role("button", name="Save")).to_have_count(0)
    files.get_by_label("Alias", exact=True).fill("hero.png")
    files.get_by_role("button", name="Add", exact=True).click()
    expect(files.get_by_label("Link", exact=True)).to_have_value(
        f"{signed_in.url.removesuffix('ui/')}repository/file/hero.png"
    )
    files.get_by_role("button", name="Make a link").click()
    link = files.get_by_label(re.compile("^ends ")).input_value()

    shown = api("GET", f"/files/{picture['name']}")
    assert (["summer", "web"], False) == (shown["tags"], shown["public"])
    assert PICTURE == files.request.get(link).body()
    assert PICTURE == files.request.get(files.get_by_label("Link", exact=True).input_value()).body()
    with files.expect_download() as download:
        files.get_by_role("link", name="Download").click()
    assert "sunset.png" == download.value.suggested_filename


@pytest.mark.costly
def test_a_file_gets_another_name(signed_in, files, api):
    made = api("POST", "/files?name=first.txt", b"to rename")
    signed_in.go(f"#/files/{made['name']}")
    files.get_by_label("Name", exact=True).fill("second.txt")
    expect(files.get_by_text("Links with the old name stop working")).to_be_visible()
    files.get_by_role("button", name="Save").click()
    expect(files.get_by_role("heading", name="second.txt")).to_be_visible()

    [found] = api("GET", "/files?q=second.txt")["items"]
    assert "second.txt" == found["requested_name"]
    expect(files).to_have_url(re.compile(re.escape(f"#/files/{found['name']}") + "$"))
    assert "first.txt" not in names(api)


def test_a_file_is_deleted_after_a_question(signed_in, files, api):
    made = api("POST", "/files?name=old.txt", b"old")
    signed_in.go(f"#/files/{made['name']}")
    files.get_by_role("button", name="Delete").click()
    expect(files.get_by_role("dialog", name="Delete old.txt?")).to_contain_text("files have no trash")
    files.get_by_role("dialog").get_by_role("button", name="Delete").click()

    expect(files.get_by_role("dialog")).to_have_count(0)
    assert "old.txt" not in names(api)


@pytest.mark.costly
def test_aliases_that_cannot_be_read_are_not_taken_for_none(signed_in, files, api):
    signed_in.expect("503")
    made = api("POST", "/files?name=named.txt", b"named")
    api("PUT", "/aliases/short.txt", {"file": made["name"]})
    files.route("**/api/v1/aliases?*", lambda route: route.fulfill(**FAILS))
    signed_in.go(f"#/files/{made['name']}")
    expect(files.locator("aside").get_by_role("alert")).to_contain_text("(503)")
    files.get_by_role("button", name="Delete").click()
    dialog = files.get_by_role("dialog", name="Delete named.txt?")
    expect(dialog).to_contain_text("Its aliases cannot be read now. Those that exist will lead to nothing.")
    dialog.get_by_role("button", name="Cancel").click()
    files.unroute("**/api/v1/aliases?*")
    files.locator("aside").get_by_role("button", name="Try now").click()

    expect(files.locator("aside").get_by_role("alert")).to_have_count(0)
    expect(files.get_by_role("list", name="Aliases")).to_contain_text("short.txt")


@pytest.mark.costly
def test_a_file_with_a_password_that_cannot_be_downloaded_says_why(signed_in, files, api):
    signed_in.expect("503")
    made = api("POST", "/files?name=secret.txt", b"secret", {"X-File-Password": "5ecre7 password"})
    files.route("**/link", lambda route: route.fulfill(**FAILS))
    signed_in.go(f"#/files/{made['name']}")
    files.get_by_role("button", name="Download").click()

    expect(files.locator("aside").get_by_role("alert")).to_have_text("The service answered 503")


def test_who_may_only_look_is_offered_nothing_else(console, api, picture):
    console.sign_in(api.token(Role.VIEW_LISTING, Role.VIEW_ANY_FILE, Role.VIEW_ALL_TAGS), f"#/files/{picture['name']}")
    page = console.page
    expect(page.get_by_role("heading", name="sunset.png")).to_be_visible()

    for absent in (page.get_by_role("button", name=re.compile("Choose files|Delete")), page.get_by_text("Drop files")):
        expect(absent).to_have_count(0)


@pytest.mark.parametrize(("theme", "width"), first_of([("light", "phone"), ("dark", "wide")]))
def test_axe_finds_nothing_and_names_are_only_texts(open_console, service, api, picture, theme, width):
    api("POST", "/files?name=onerror%3Dalert%281%29%20%26lt.txt", f"payload {theme}".encode())
    console = open_console(theme=theme, width=width)
    console.expect("400")  # the name of the second file
    console.sign_in(service.admin, "#/files")
    console.page.evaluate(DROP, [["one.txt", "<img src=x onerror=alert(1)>.txt"], theme])
    expect(uploads(console.page).filter(has_text="<img src=x onerror=alert(1)>.txt")).to_be_visible()
    expect(console.page.get_by_text("1 of 2 done")).to_be_visible()
    for fragment in ("#/files", "#/files?view=list&q=img", f"#/files/{picture['name']}"):
        console.go(fragment)
        assert [] == console.violations()
    console.go("#/files?view=list&q=onerror")
    expect(console.page.locator("tbody tr").first).to_contain_text("onerror=alert(1) &lt.txt")
    assert 0 == console.page.locator("img[src=x]").count()
