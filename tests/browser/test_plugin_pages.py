"""The page of an example package: its entry in the menu, and that it opens and works within its policy."""

import importlib.util
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from frepo_core.plugins.discovery import FoundPlugin
from frepo_core.testing.running_service import RunningService
from support.paths import ROOT

PREFIX = "/backup/frepo"
XSS = "<img src=x onerror=alert(1)>"
MODULE = ROOT / "examples/frepo-pages-wallboard/src/frepo_pages_wallboard/__init__.py"


@pytest.fixture
def service(tmp_path, caplog):
    """A service with the plug-in, as if its package was installed."""
    spec = importlib.util.spec_from_file_location("frepo_pages_wallboard", MODULE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    plugin = FoundPlugin(
        name="wallboard", distribution="frepo-pages-wallboard", version="0.1.0", pages=module.frepo_pages
    )
    service = RunningService(tmp_path / "frepo", {"base_path": PREFIX}, caplog, (plugin,))
    yield service
    service.close()


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
    assert console.page.url == f"{service.url}{PREFIX}/wallboard/"
    assert [] == [path for path in requests if not path.startswith(f"{PREFIX}/")]
    assert [] == console.violations()
    console.page.get_by_role("link", name="Web console").click()
    expect(console.page.get_by_role("navigation", name="Main")).to_be_visible()


def test_a_collection_without_a_backup_is_not_counted_as_one_that_is_there(console, service):
    for name in ("full.txt", "empty.txt"):
        made = service.request("POST", "/api/v1/collections", {"name": name}).json["id"]
        if name == "full.txt":
            service.request("PUT", f"/api/v1/collections/{made}/versions", b"a backup")
    console.sign_in(service.admin)
    console.page.goto(f"{service.url}/wallboard/")

    expect(console.page.get_by_role("heading", level=1)).to_have_text("1 of 2 backups are there")


def test_without_a_token_it_says_what_to_do(console, service):
    console.page.goto(f"{service.url}/wallboard/")

    expect(console.page.get_by_role("alert")).to_contain_text("Sign in to the web console")
    console.page.evaluate("sessionStorage.setItem('frepo.token', 'wrong')")
    console.expect("401")
    console.page.reload()
    expect(console.page.get_by_role("alert")).not_to_contain_text("Sign in")
    expect(console.page.get_by_role("heading", level=1)).to_have_text("Nothing can be shown")
