"""Pages of plug-ins: an example with an entry in the menu, and what plug-ins show in places of the console."""

import base64
import importlib.util
import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from frepo_core.plugins import ConsoleSlot, Pages
from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.testing.running_service import RunningService
from support.paths import ROOT
from support.wire import eventually

PREFIX = "/backup/frepo"
XSS = "<img src=x onerror=alert(1)>"
MODULE = ROOT / "examples/frepo-pages-wallboard/src/frepo_pages_wallboard/__init__.py"


# The modules of the package acme-paint, by place.
SLOTS = {
    "collection.tab": "export const mount = (place, { collection }) => place.append(`tab of ${collection.name}`);",
    "collection.card": """export function mount(place, given) {
      place.append(`names: ${Object.keys(given).sort()} ${Object.keys(given.api)} ${Object.keys(given.format)}`);
      given.signal.addEventListener("abort", () => (window.ended = true));
    }""",
    "version.action": """export function mount(place, { api, collection, version, changed, confirm }) {
      const button = document.createElement("button");
      button.textContent = `Paint ${version.number}`;
      const path = `/collections/${collection.id}/versions/v${version.number}`;
      const run = () => api.send("PATCH", path, { body: { note: "painted" } }).then(changed);
      button.addEventListener("click", () => confirm({ title: "Paint?", text: "It is red.", action: "Yes", run }));
      place.append(button);
    }""",
    "overview.card": """export async function mount(place, { api, format }) {
      place.append(`${(await api.read("/overview")).collections.new} new, ${format.size(2000)}`);
    }""",
    "health.row": "export const mount = (place, { about }) => place.append(`for ${about.token.fingerprint}`);",
}
FAILING = {
    "throws": "export const mount = (place) => { place.append('half'); throw new Error('The paint is dry'); };",
    "hangs": "export const mount = () => new Promise(() => {});",
    "late": """export const mount = (place) => new Promise((done) => {
      window.answer = () => done(place.append("at last"));
    });""",
    "loads_never": "await new Promise(() => {});",
    "no_mount": "export const paint = 1;",
    "syntax": "export const mount = (;",
    "empty": "export const mount = () => {};",
    "xss": f"export const mount = (place) => place.append({XSS!r});",
}


@pytest.fixture
def slots():
    """The slots of the package acme-paint, and the text of each module."""
    return [(place, place.replace(".", "_"), text) for place, text in SLOTS.items()]


@pytest.fixture
def service(tmp_path, caplog, slots):
    """A service with the plug-ins, as if their packages were installed."""
    spec = importlib.util.spec_from_file_location("frepo_pages_wallboard", MODULE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plugin = FoundPlugin(
        name="wallboard",
        distribution="frepo-pages-wallboard",
        version="0.1.0",
        pages=module.frepo_pages,
        console_slots=module.frepo_console_slots(),
    )
    (tmp_path / "paint").mkdir()
    for _, name, text in slots:
        (tmp_path / f"paint/{name}.js").write_text(text)
    paint = FoundPlugin(
        name="paint",
        distribution="acme-paint",
        version="1.2.3",
        pages=lambda: [Pages(path="paint", folder=tmp_path / "paint", title="Paint")],
        console_slots=[
            ConsoleSlot(place=place, name=name, title=f"Paint {name}", module=f"paint/{name}.js")
            for place, name, _ in slots
        ],
    )
    settings = {"base_path": PREFIX, "uploads.directory": str(tmp_path / "uploads")}
    service = RunningService(tmp_path / "frepo", settings, caplog, (plugin, paint))
    yield service
    service.close()


@pytest.mark.costly
def test_the_page_is_opened_from_the_menu_below_a_prefix(console, service):
    """All that the console and the page load and link to is below the prefix of a proxy."""
    console.url = f"{service.url}{PREFIX}/ui/"
    requests = []
    console.page.on("request", lambda request: requests.append(urlsplit(request.url).path))
    limits = {"name": "shop.sql.gz", "labels": [XSS], "guards": {"min_version_size": 1000}}
    collection = service.request("POST", "/api/v1/collections", limits).json["id"]
    service.request("PUT", f"/api/v1/collections/{collection}/versions", b"too small")
    console.sign_in(service.admin)
    console.page.get_by_role("navigation").get_by_role("link", name="Wallboard").click()

    expect(console.page.get_by_role("heading", level=1)).to_have_text("1 backup needs attention")
    expect(console.page.get_by_role("listitem")).to_have_text("shop.sql.gzsuspicious")
    expect(console.page).to_have_url(f"{service.url}{PREFIX}/wallboard/")
    assert [] == [path for path in requests if not path.startswith(f"{PREFIX}/")]
    assert [] == console.violations()
    console.page.get_by_role("link", name="Web console").click()
    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()


@pytest.mark.costly
def test_a_collection_without_a_backup_is_not_counted_as_one_that_is_there(console, service):
    for name in ("full.txt", "empty.txt"):
        made = service.request("POST", "/api/v1/collections", {"name": name}).json["id"]
        if name == "full.txt":
            service.request("PUT", f"/api/v1/collections/{made}/versions", b"a backup")
    console.sign_in(service.admin)
    console.page.goto(f"{service.url}/wallboard/")

    expect(console.page.get_by_role("heading", level=1)).to_have_text("1 of 2 backups are there")


@pytest.mark.costly
def test_without_a_token_it_says_what_to_do(console, service):
    console.page.goto(f"{service.url}/wallboard/")

    expect(console.page.get_by_role("alert")).to_contain_text("Sign in to the web console")
    console.page.evaluate("sessionStorage.setItem('frepo.token', 'wrong')")
    console.expect("401")
    console.page.reload()
    expect(console.page.get_by_role("alert")).not_to_contain_text("Sign in")
    expect(console.page.get_by_role("heading", level=1)).to_have_text("Nothing can be shown")


@pytest.fixture
def collection(service):
    """A collection with one version."""
    made = service.request("POST", "/api/v1/collections", {"name": "shop.sql.gz"}).json["id"]
    service.request("PUT", f"/api/v1/collections/{made}/versions", b"a backup")
    return made


@pytest.mark.costly
def test_each_place_shows_what_plugins_add(console, service, collection):
    console.url = f"{service.url}{PREFIX}/ui/"
    console.sign_in(service.admin, f"#/collections/{collection}")
    main = console.page.get_by_role("main")

    expect(main.get_by_role("region", name="Paint collection_card")).to_contain_text(
        "names: about,api,changed,collection,confirm,format,signal,version read,send count,date,dateTime,relative,size"
    )
    main.get_by_role("link", name="Paint collection_tab").click()
    expect(main.get_by_role("region", name="Paint collection_tab")).to_have_text("tab of shop.sql.gz")
    expect(console.page).to_have_url(re.compile(f"#/collections/{collection}/x-collection_tab$"))
    main.get_by_role("link", name="Wallboard").click()
    expect(main.get_by_role("region", name="Wallboard")).to_contain_text("8 bytes")
    assert [] == console.violations()
    console.go("#/overview")
    assert True is eventually(True, lambda: console.page.evaluate("window.ended"))
    expect(main.get_by_role("region", name="Paint overview_card")).to_contain_text("0 new, 2.00 kB")
    assert [] == console.violations()
    console.go("#/health")
    expect(main.get_by_role("listitem").filter(has_text="Paint health_row")).to_contain_text("for ")
    assert [] == console.violations()


@pytest.mark.costly
def test_a_button_of_a_version_opens_a_dialog_that_can_ask_and_change(console, service, collection):
    console.sign_in(service.admin, f"#/collections/{collection}")
    console.page.get_by_role("button", name="Paint version_action: Version 1").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Paint 1").click()
    asked = console.page.get_by_role("dialog", name="Paint?")

    expect(asked).to_contain_text("It is red.")
    asked.get_by_role("button", name="Yes").click()
    expect(asked).to_have_count(0)
    expect(console.page.get_by_role("dialog")).to_have_count(1)
    assert [] == console.violations()
    console.page.keyboard.press("Escape")
    expect(console.page.get_by_role("dialog")).to_have_count(0)
    expect(console.page.get_by_role("row").filter(has_text="painted")).to_be_visible()


@pytest.mark.costly
@pytest.mark.parametrize("slots", [[("collection.card", *each) for each in FAILING.items()]])
def test_a_slot_that_fails_is_named_and_the_page_works(console, service, collection):
    console.expect("Unexpected token")
    console.sign_in(service.admin, f"#/collections/{collection}")

    def card(name):
        return console.page.get_by_role("region", name=f"Paint {name}", exact=True)

    def failure(name):
        return card(name).get_by_role("alert")

    expect(failure("throws")).to_have_text("Paint throws of the package acme-paint does not work The paint is dry")
    expect(card("throws").get_by_text("half")).to_be_hidden()
    expect(failure("no_mount")).to_contain_text("mount is not a function")
    expect(failure("syntax")).to_contain_text("Unexpected token")
    expect(card("xss")).to_contain_text(XSS)
    expect(card("empty")).to_be_hidden()
    for name in ("hangs", "late", "loads_never"):
        expect(failure(name)).to_contain_text("has not answered within 10 seconds", timeout=20_000)
    console.page.evaluate("answer()")
    expect(card("late")).to_contain_text("at last")
    expect(failure("late")).to_have_count(0)
    assert [] == console.violations()
    expect(console.page.get_by_role("row").filter(has_text="8 bytes")).to_be_visible()
    console.page.get_by_role("link", name="Settings and retention").click()
    expect(console.page.get_by_label("Name", exact=True)).to_have_value("shop.sql.gz")


@pytest.mark.costly
@pytest.mark.parametrize("slots", [[("overview.card", "throws", FAILING["throws"]), ("health.row", "row", "throw 5")]])
def test_a_module_that_is_missing_or_throws_is_named_elsewhere(console, service):
    console.page.route("**/paint/throws.js", lambda route: route.fulfill(status=404))
    console.expect("404")
    console.sign_in(service.admin, "#/overview")

    expect(console.page.get_by_role("alert")).to_contain_text("Paint throws of the package acme-paint does not work")
    console.go("#/health")
    expect(console.page.get_by_role("alert")).to_have_text("Paint row of the package acme-paint does not work 5")


@pytest.mark.costly
def test_an_open_upload_is_shown_on_the_page_of_its_collection_and_ended(console, service, collection):
    def begin(name, length):
        # "collection" and "filename", each in base64, as tus requires
        pairs = {"collection": collection, "filename": name}
        metadata = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items())
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": str(length), "Upload-Metadata": metadata}
        assert 201 == service.request("POST", "/api/v1/uploads", b"", headers=headers).status

    console.sign_in(service.admin, f"#/collections/{collection}")
    card = console.page.get_by_role("region", name="Open uploads")
    expect(card).to_be_hidden()
    for name in ("large.tar", XSS):
        begin(name, 5000)
    console.page.reload()

    expect(card.get_by_role("listitem")).to_have_count(2)
    expect(card.get_by_role("listitem").filter(has_text="large.tar")).to_contain_text(
        "0 bytes of 5.00 kB, ends in 47 hours"
    )
    expect(card).to_contain_text(XSS)
    assert [] == console.violations()
    card.get_by_role("button", name="End large.tar").click()
    console.page.get_by_role("dialog").get_by_role("button", name="End", exact=True).click()
    expect(card.get_by_role("listitem")).to_have_count(1)
    assert [XSS] == [one["filename"] for one in service.request("GET", "/api/v1/uploads").json["items"]]
    other = service.request("POST", "/api/v1/collections", {"name": "other.tar"}).json["id"]
    console.go(f"#/collections/{other}")
    expect(card).to_be_hidden()
