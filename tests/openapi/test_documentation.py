"""The document is generated once; it and its page are sent with validators."""

import pytest
from webtest import TestApp

from frepo_core.web import make_app
from frepo_core.web.openapi import documentation

PATHS = ["/api/doc.json", "/api/doc"]


@pytest.fixture
def made(monkeypatch):
    """The names of the generating functions called so far."""
    names = []

    def counted(make):
        return lambda *arguments: names.append(make.__name__) or make(*arguments)

    make = documentation.build_document
    monkeypatch.setattr(documentation, make.__name__, counted(make))
    return names


def test_the_document_is_made_once(services, made):
    app = TestApp(make_app(services))  # not one that other tests have used
    for host in ("one.example", "two.example"):
        for path in PATHS:
            app.get(path, headers={"Host": host})

    assert made == ["build_document"]


def test_the_document_names_the_host_of_each_request(app):
    servers = [
        app.get("/api/doc.json", headers={"Host": host}).json["servers"] for host in ("one.example", "two.example:8080")
    ]

    assert servers == [[{"url": "http://one.example"}], [{"url": "http://two.example:8080"}]]


def test_a_matching_etag_is_answered_with_304(app):
    for path in PATHS:
        first = app.get(path)
        for known in (first.headers["ETag"], f"W/{first.headers['ETag']}", "*"):
            again = app.get(path, headers={"If-None-Match": known})

            assert (again.status_int, again.body, again.headers["ETag"]) == (304, b"", first.headers["ETag"])


def test_another_etag_is_answered_with_the_document(app):
    for path in PATHS:
        for other in ['"other"', '"', "\xff,,,", ""]:
            answer = app.get(path, headers={"If-None-Match": other})

            assert answer.status_int == 200, path
            assert answer.body, path


def test_documents_for_other_hosts_have_other_etags(app):
    etags = {
        app.get("/api/doc.json", headers={"Host": host}).headers["ETag"] for host in ("one.example", "two.example")
    }

    assert len(etags) == 2
