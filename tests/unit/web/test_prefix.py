"""A service below a prefix of its address: X-Forwarded-Prefix of a trusted proxy, or `base_path`."""

import re
from urllib.parse import urlsplit

import pytest

from support.client import with_settings

PROXY = {"REMOTE_ADDR": "10.0.0.1"}
FORWARDED = with_settings(trusted_proxies="10.0.0.1")
SET = with_settings(base_path="/backup/frepo/")
PREFIX = "/backup/frepo"


@pytest.fixture
def links(root, collection, upload, push):
    """Return all links and redirects of the service, as requests with these headers and variables get them."""

    def links(headers, environ):
        def call(method, path, **more):
            return root.call(method, path, headers=headers | dict(more.pop("headers", ())), environ=environ, **more)

        def get(path, **more):
            return call("GET", path, **more)

        stored = call("POST", "/repository/file/upload?fileName=a.txt&public=true", body=b"hello").json
        push(collection, b"dump")
        version = f"/api/v1/collections/{collection}/versions/v1"
        new = {"name": "b.sql"}
        return {
            "upload": stored["url"],
            "listing": get("/repository").json["results"][0]["publicUrl"],
            "versions": get(f"/repository/collection/{collection}/backup").json["versions"]["1"]["url"],
            "redirect": get(f"/repository/collection/{collection}/backup/latest").location,
            "signed": call("POST", f"{version}/link", json={}).json["url"],
            "file link": call("POST", f"/api/v1/files/{stored['filename']}/link", json={}).json["url"],
            "created": call("POST", "/api/v1/collections", json=new).headers["Location"],
            "version": call("PUT", f"{version.rpartition('/')[0]}", body=b"more").headers["Location"],
            "alias": call("PUT", "/api/v1/aliases/short", json={"file": stored["filename"]}).headers["Location"],
            "problem": get("/api/v1/collections/x").json["type"],
            "problem of a path": get("/api/v1/nothing").json["type"],
            "servers": get("/api/doc.json").json["servers"][0]["url"],
            "servers of v1": get("/api/v1/openapi.json").json["servers"][0]["url"],
            "console": get("/", headers={"Accept": "text/html"}).location,
            "folder": get("/ui").location,
            "folder within pages": get(f"/ui/{folder_of_console(root)}/lib").location,
        }

    return links


def folder_of_console(root):
    """Return the folder with the files of the console: a digest of them."""
    return re.search(r'href="(\w+)/lib/api\.js"', root.get("/ui/").text)[1]


def wrong(found, host="localhost"):
    """Return the links that do not have the prefix exactly once, at the beginning of their path."""
    parts = {name: urlsplit(url) for name, url in found.items()}
    return {
        name: url.geturl()
        for name, url in parts.items()
        if url.hostname != host or not re.match(rf"{PREFIX}(?:/(?!backup)|$)", url.path)
    }


@FORWARDED
@pytest.mark.parametrize("prefix", [PREFIX, f"{PREFIX}/", f"{PREFIX}, /other"])
def test_links_have_the_prefix_of_a_trusted_proxy(links, prefix):
    assert {} == wrong(links({"X-Forwarded-Prefix": prefix}, PROXY))


@SET
def test_links_have_the_base_path(links):
    assert {} == wrong(links({}, {}))


@with_settings(base_path="/else", trusted_proxies="10.0.0.1")
def test_a_proxy_says_it_better_than_the_setting(links):
    assert {} == wrong(links({"X-Forwarded-Prefix": PREFIX}, PROXY))


@FORWARDED
def test_a_client_cannot_choose_a_prefix(root):
    assert PREFIX not in root.get("/api/v1/nothing", headers={"X-Forwarded-Prefix": PREFIX}).json["type"]


@FORWARDED
def test_a_prefix_that_is_no_path_is_refused(root):
    for prefix in ["//evil.example", "frepo", "/a b", "/../x", "/a?b", "/a\\b"]:
        answer = root.get("/api/v1", headers={"X-Forwarded-Prefix": prefix}, environ=PROXY)

        assert (400, True) == (answer.status_int, "X-Forwarded-Prefix" in answer.json["detail"]), prefix


@SET
def test_a_proxy_may_leave_the_base_path_in_the_request(root, upload):
    stored = upload(b"hello").json["filename"]

    assert 200 == root.get(f"{PREFIX}/api/v1").status_int
    assert b"hello" == root.get(f"{PREFIX}/repository/file/{stored}").body
    assert 200 == root.get(PREFIX, headers={"Accept": "text/html"}).follow().status_int
    assert 404 == root.get(f"{PREFIX}more/api/v1").status_int
    assert PREFIX in root.get(f"{PREFIX}/api/v1/nothing").json["type"]


@SET
def test_the_links_of_pages_are_relative(root):
    """So they work below every prefix."""
    for path in ("/ui/", "/api/doc", "/api/v1/doc"):
        text = root.get(path).text
        links = [link for link in re.findall(r'(?:href|src)="([^"]*)"', text) if not link.startswith(("#", "data:"))]
        assert links
        assert [] == [link for link in links if link.startswith("/")]
