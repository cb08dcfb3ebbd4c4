from webtest import TestApp

from frepo_core import assemble
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.web import make_app

BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


def test_the_root_greets_everyone(app):
    answer = app.get("/")

    assert "frepo" in answer.json["message"]
    assert "/api/doc" == answer.json["documentation"]


def test_a_browser_is_sent_to_the_web_console(app):
    answer = app.get("/", headers=BROWSER)

    assert (302, "http://localhost:80/ui/") == (answer.status_int, answer.location)
    assert "Accept" == answer.headers["Vary"]
    assert 200 == answer.follow(headers=BROWSER).status_int


def test_without_the_console_a_browser_gets_a_page_that_links_to_the_documentation(ini):
    app = TestApp(make_app(assemble(ini, {}, PluginRegistry.from_entry_points(["console"]))))

    page = app.get("/", headers=BROWSER)

    assert "text/html" == page.content_type
    assert 200 == page.click("Documentation").status_int


def test_the_root_needs_no_database_whatever_token_is_sent(ini, plugins):
    app = TestApp(make_app(assemble(ini | {"database.url": "postgresql://u:p@127.0.0.1:1/none"}, {}, plugins)))

    answers = [app.get("/", headers={"X-Auth-Token": token}) for token in ("", "5e70f0d6-6f9c-4a2e-8d37-5a2b0a1f6d11")]

    assert [200, 200] == [answer.status_int for answer in answers]


def test_a_client_that_accepts_everything_gets_json(app):
    assert "application/json" == app.get("/", headers={"Accept": "*/*"}).content_type
