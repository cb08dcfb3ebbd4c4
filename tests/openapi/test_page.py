import re
from html.parser import HTMLParser

import pytest


class Page(HTMLParser):
    """The parts of a page that tests check."""

    VOID = frozenset({"meta", "br", "link", "img", "input", "hr"})

    def __init__(self, text):
        super().__init__()
        self.names, self.links, self.loaded, self.words, self.open = set(), [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.names.add(found.get("id"))
        self.links += [found["href"]] if tag == "a" else []
        self.loaded += [tag] if "src" in found or tag in {"link", "script", "iframe", "img", "object"} else []
        self.open += [] if tag in self.VOID else [tag]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture
def answer(app):
    return app.get("/api/doc")


@pytest.fixture
def page(answer):
    return Page(answer.text)


def test_the_page_names_every_path_and_method(app, page):
    document = app.get("/api/doc.json").json
    operations = {op["operationId"] for on_path in document["paths"].values() for op in on_path.values()}

    assert operations <= page.names
    assert set(document["paths"]) <= set(page.words)


def test_the_page_loads_nothing(answer, page):
    assert page.loaded == []
    assert re.findall(r"url\(|@import", answer.text) == []
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")


def test_links_lead_to_places_on_the_page(page):
    lost = [link for link in page.links if link != "doc.json" and link.removeprefix("#") not in page.names]

    assert lost == []


def test_the_page_is_well_formed(page):
    assert page.open == []


def test_no_paragraph_holds_what_would_end_it(answer):
    assert re.findall(r"<p>(?:(?!</p>).)*<(?:details|div|pre|table|ul)", answer.text) == []


def test_the_page_holds_the_guide(page):
    text = "".join(page.words).partition("Endpoints")[0]

    assert "X-Auth-Token" in text
    assert "60007" in text
    assert "`" not in text
