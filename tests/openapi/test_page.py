"""The pages that show the two documents: a vendored viewer that loads everything from the service itself."""

import gzip
import hashlib
import json
import re
import tomllib
from html.parser import HTMLParser

import pytest
from webob import Request

from support.paths import ROOT

VIEWER = ROOT / "frepo_core/src/frepo_core/web/viewer"
VENDORED = json.loads((VIEWER / "vendored.json").read_text())
PAGES = {"/api/doc": "/api/doc.json", "/api/v1/doc": "/api/v1/openapi.json"}


class Page(HTMLParser):
    """What a page loads, and what would be inline."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.inline, self.document, self.tag = [], [], None, ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        self.tag = tag
        self.loaded += [found[name] for name in ("src", "href") if name in found and tag in {"script", "link"}]
        self.inline += [name for name in found if name == "style" or name.startswith("on")]
        self.document = found.get("data-document", self.document)

    def handle_data(self, data):
        if self.tag in {"script", "style"} and data.strip():
            self.inline.append(data)


def resolve(path, relative):
    """Return the path of a relative URL on a page."""
    parts = path.split("/")[:-1]
    for part in relative.split("/"):
        parts = parts[:-1] if part == ".." else [*parts, part]
    return "/".join(parts)


@pytest.mark.costly
def test_the_page_loads_its_document_and_the_viewer_from_the_service(app):
    for path, document in PAGES.items():
        page = Page(app.get(path).text)
        files = [resolve(path, name) for name in page.loaded if name != "data:,"]

        assert document == resolve(path, page.document)
        assert {"swagger-ui-bundle.js", "swagger-ui.css", "viewer.js", "viewer.css"} == {
            name.rpartition("/")[2] for name in files
        }
        for name in files:
            answer = app.get(name)
            assert "immutable" in answer.headers["Cache-Control"]
            assert answer.body == (VIEWER / name.rpartition("/")[2]).read_bytes()


def test_the_policy_allows_nothing_inline_and_no_other_host(app):
    for path in PAGES:
        answer = app.get(path)

        assert [] == Page(answer.text).inline, path
        policy = dict(part.strip().partition(" ")[::2] for part in answer.headers["Content-Security-Policy"].split(";"))
        assert {"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "connect-src": "'self'"} == {
            name: policy[name] for name in ("default-src", "script-src", "style-src", "connect-src")
        }
        assert "unsafe" not in answer.headers["Content-Security-Policy"], path


def test_the_files_are_sent_compressed(app):
    page = Page(app.get("/api/doc").text)
    path = resolve("/api/doc", next(name for name in page.loaded if name.endswith("bundle.js")))

    # WebTest would decompress it.
    answer = Request.blank(path, headers={"Accept-Encoding": "gzip"}).get_response(app.app)

    assert ("gzip", True) == (answer.headers["Content-Encoding"], answer.content_length < 500_000)
    assert (VIEWER / "swagger-ui-bundle.js").read_bytes() == gzip.decompress(answer.body)


def test_nothing_else_is_sent(app):
    for name in ["viewer.py", "vendored.json", "page.html", "__init__.py", "licences", "..%2fguide.md"]:
        folder = resolve("/api/doc", Page(app.get("/api/doc").text).loaded[-1]).rpartition("/")[0]

        assert 404 == app.get(f"{folder}/{name}", status="*").status_int
        assert 404 == app.get("/api/viewer/0000000000000000/viewer.js", status="*").status_int, name


def test_a_vendored_file_is_the_published_one():
    for one in VENDORED:
        assert one["sha256"] == hashlib.sha256((VIEWER / one["file"]).read_bytes()).hexdigest()
        assert ("Apache-2.0", True) == (one["licence"], bool(one["version"]))


def test_each_file_that_is_not_ours_is_listed_with_a_licence():
    own = {"viewer.js", "viewer.css", "viewer.py", "__init__.py", "page.html", "vendored.json"}
    files = {path.name for path in VIEWER.iterdir() if path.is_file()}

    assert {one["file"] for one in VENDORED} == files - own
    assert {f"{one['package']}.txt" for one in VENDORED} == {path.name for path in (VIEWER / "licences").iterdir()}


def test_the_page_and_the_guides_are_in_the_package():
    found = tomllib.loads((ROOT / "frepo_core/pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]
    source = ROOT / "frepo_core/src"
    named = {
        path
        for package, patterns in found.items()
        for pattern in patterns
        for path in source.glob(f"{package.replace('.', '/').replace('*', '**')}/{pattern}")
    }
    files = {path for path in source.rglob("*") if path.is_file() and path.suffix not in {".py", ".pyc"}}

    assert set() == {str(path) for path in files - named if "egg-info" not in str(path)}


def test_the_link_of_an_error_leads_to_an_entry_of_the_page(app):
    script = (VIEWER / "viewer.js").read_text()
    pattern = re.search(r"/(\^#.*?)/\.exec", script)[1].replace(r"\/", "/")
    path, _, fragment = app.get("/api/v1/nothing", status="*").json["type"].partition("#")
    number = re.match(pattern, f"#{fragment}")[1]

    # Swagger UI changes the fragment.
    assert number == re.match(pattern, f"#/{fragment}")[1] == "404"
    assert f"<dt id='error-{number}'>" in app.get(path.removeprefix("http://localhost:80")).text
    assert (
        "does not exist" in app.get("/api/v1/doc").text.partition(f"<dt id='error-{number}'>")[2].partition("</dd>")[0]
    )
    assert "<dt" not in app.get("/api/doc").text
