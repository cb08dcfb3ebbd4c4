"""The wallboard is served with a strict policy, has an entry in the menu, and names nothing from other sites."""

import re

import pytest

from frepo_pages_wallboard import FOLDER, frepo_pages


@pytest.mark.parametrize("name", ["index.html", "wallboard.js", "wallboard.css", "tab.js"])
def test_nothing_is_inline_or_from_other_sites(name):
    text = (FOLDER / name).read_text()

    assert [] == re.findall(
        r"(?:src|href)=.(?:https?:)?//|import.*//|<style|style=|\son\w+=|<script(?![^>]*\ssrc=)|innerHTML", text
    )


def test_there_is_an_entry_in_the_menu_of_the_console():
    [pages] = frepo_pages()

    assert [("wallboard", "Wallboard", "")] == [(pages.path, entry.title, entry.path) for entry in pages.menu]


def test_the_service_serves_the_page_and_names_it(frepo_service):
    page = frepo_service.request("GET", "/wallboard/")
    about = frepo_service.request("GET", "/api/v1")

    assert (200, FOLDER.joinpath("index.html").read_bytes()) == (page.status, page.body)
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert [{"title": "Wallboard", "path": "/wallboard/"}] == [
        entry for entry in about.json["pages"] if entry["title"] == "Wallboard"
    ]


def test_there_is_a_tab_on_the_page_of_a_collection(frepo_service):
    about = frepo_service.request("GET", "/api/v1")
    [tab] = [slot for slot in about.json["slots"] if slot["package"] == "frepo-pages-wallboard"]
    module = frepo_service.request("GET", tab["module"], token="")

    assert ("collection.tab", "Wallboard") == (tab["place"], tab["title"])
    assert (200, FOLDER.joinpath("tab.js").read_bytes()) == (module.status, module.body)
    assert b"export async function mount(" in module.body
