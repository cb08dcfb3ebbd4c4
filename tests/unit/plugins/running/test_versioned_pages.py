"""Versioned pages of plug-ins: what is served, with which headers, and what is refused; the menu of the web console."""

import base64
import gzip
import hashlib
import re

import pytest
from webob import Request
from webtest import TestApp

from frepo_core.plugins import MenuEntry, Pages
from frepo_core.services.access.tokens import NewToken
from frepo_core.web import make_app


class TestVersionedPages:
    """Pages whose files browsers may keep for ever."""

    @pytest.fixture
    def folder(self, tmp_path):
        folder = tmp_path / "pages"
        (folder / "deep").mkdir(parents=True)
        (folder / "index.html").write_text('<script type="module" src="{digest}/deep/app.js"></script>')
        (folder / "deep/app.js").write_text("paint()")
        return folder

    @pytest.fixture
    def app(self, assembled, folder):
        pages = Pages(
            path="paint", folder=folder, title="Paint", is_versioned=True, policy="default-src 'none'; img-src data:"
        )
        return TestApp(make_app(assembled({"pages": lambda: [pages]})))

    @staticmethod
    def script(app):
        return "/paint/" + re.search('src="(.*?)"', app.get("/paint/").text)[1]

    def test_a_file_below_the_digest_is_kept_for_ever_and_the_index_is_asked_for_again(self, app):
        script, index = app.get(self.script(app)), app.get("/paint/")

        assert ("paint()", "public, max-age=31536000, immutable") == (script.text, script.headers["Cache-Control"])
        assert ("no-cache", "text/html") == (index.headers["Cache-Control"], index.content_type)
        assert 304 == app.get("/paint/", headers={"If-None-Match": index.headers["ETag"]}, status=304).status_int

    def test_the_policy_is_that_of_the_plugin(self, app):
        for path in ("/paint/", self.script(app)):
            assert "default-src 'none'; img-src data:" == app.get(path).headers["Content-Security-Policy"]

    @pytest.mark.parametrize(
        ("policy", "expected"),
        [
            (
                "default-src 'none'; style-src 'self'; img-src data:",
                "default-src 'none'; img-src data:; style-src 'self' {}",
            ),
            ("default-src 'self'", "default-src 'self'; style-src 'self' {}"),
        ],
    )
    def test_a_style_in_the_page_is_the_only_one_that_the_policy_allows(self, assembled, folder, policy, expected):
        (folder / "index.html").write_text("<head>{style deep/app.css}</head>")
        (folder / "deep/app.css").write_text("p{color:red}")
        pages = Pages(path="paint", folder=folder, title="Paint", is_versioned=True, policy=policy)
        index = TestApp(make_app(assembled({"pages": lambda: [pages]}))).get("/paint/")
        digest = base64.b64encode(hashlib.sha256(b"p{color:red}").digest()).decode()

        assert "<head><style>p{color:red}</style></head>" == index.text
        assert expected.format(f"'sha256-{digest}'") == index.headers["Content-Security-Policy"]

    def test_the_digest_follows_each_file(self, assembled, folder, app):
        before = self.script(app)
        (folder / "deep/app.js").write_text("draw()")
        pages = Pages(path="paint", folder=folder, title="Paint", is_versioned=True)
        later = TestApp(make_app(assembled({"pages": lambda: [pages]})))

        assert before != self.script(later)
        assert 404 == later.get(before, expect_errors=True).status_int

    def test_a_compressed_form_is_sent_to_those_who_accept_it(self, assembled, folder):
        script = b"paint();" * 100
        (folder / "deep/app.js").write_bytes(script)
        (folder / "deep/app.js.gz").write_bytes(gzip.compress(script))
        pages = Pages(path="paint", folder=folder, title="Paint", is_versioned=True)
        app = TestApp(make_app(assembled({"pages": lambda: [pages]})))
        path = self.script(app)

        # WebTest would decompress the answer.
        answer = Request.blank(path, headers={"Accept-Encoding": "gzip"}).get_response(app.app)
        assert ("gzip", script) == (answer.headers["Content-Encoding"], gzip.decompress(answer.body))
        assert "javascript" in answer.content_type
        assert script == app.get(path, headers={"Accept-Encoding": "identity"}).body

    def test_nothing_else_is_there(self, app):
        for path in ["nothing", "index.html", "deep/app.js"]:
            assert 404 == app.get(f"/paint/{path}", expect_errors=True).status_int, path

    def test_an_index_is_needed(self, folder):
        (folder / "index.html").unlink()

        with pytest.raises(ValueError, match="which has no index.html"):
            Pages(path="paint", folder=folder, title="Paint", is_versioned=True)

    def test_a_policy_that_allows_more_is_refused(self, folder):
        for source in ["'unsafe-inline'", "*", "https://example.org"]:
            with pytest.raises(ValueError, match=re.escape(f"policy allows {source}")):
                Pages(path="paint", folder=folder, title="Paint", policy=f"default-src 'self' {source}")


def test_the_menu_of_the_console_names_the_pages_of_plugins(assembled, tmp_path):
    menu = [MenuEntry(title="Paint"), MenuEntry(title="Colours", path="#colours")]
    pages = Pages(path="paint", folder=tmp_path, title="Paint", menu=menu)
    services = assembled({"pages": lambda: [pages]})
    token = services.tokens.generate(NewToken(roles=[], expires="never")).id

    about = TestApp(make_app(services)).get("/api/v1", headers={"Authorization": f"Bearer {token}"}).json

    entries = [{"title": "Paint", "path": "/paint/"}, {"title": "Colours", "path": "/paint/#colours"}]
    assert entries == [page for page in about["pages"] if "paint" in page["path"]]
