"""Endpoints of plug-ins below the paths of downloads answer what their views return, each time."""

from dataclasses import replace

import pytest
from pyramid.response import Response
from webtest import TestApp

from frepo_core.plugins.registry import FoundPlugin, PluginRegistry
from frepo_core.web import Answer, Endpoint, Reply, make_app


class SizeReply(Reply):
    size: int


def size(request):
    return Answer(body=SizeReply(size=7))


def preview(request):
    """Return an answer that caches may keep, without an ETag."""
    return Response(body=b"preview", cache_control="public, max-age=25200, immutable")


def language(request):
    """Return an answer that caches may keep for each language."""
    text = request.headers.get("Accept-Language", "en").encode()
    return Response(
        body=text,
        content_type="text/plain",
        charset="utf-8",
        etag=text.decode(),
        vary="Accept-Language",
        cache_control="public, max-age=25200, immutable",
    )


@pytest.fixture
def app(services):
    endpoints = [
        Endpoint(
            name=view.__name__,
            method="GET",
            path=f"/public/download/{{name}}/{view.__name__}",
            view=view,
            summary="Test",
            permission=None,
            answers={200: None},
        )
        for view in (size, preview, language)
    ]
    found = FoundPlugin(
        name="acme",
        distribution="frepo-acme",
        version="1",
        storages=[],
        strategies=[],
        endpoints=lambda context: endpoints,
    )
    registry = PluginRegistry([*services.plugins.found, found])
    return TestApp(make_app(replace(services, plugins=registry)))


@pytest.mark.parametrize("name", ["size", "preview"])
def test_an_endpoint_below_a_download_answers(app, name):
    assert 200 == app.get(f"/public/download/a.txt/{name}", expect_errors=True).status_int


def test_an_answer_that_varies_varies(app):
    answers = [
        app.get("/public/download/a.txt/language", headers={"Accept-Language": each}).text
        for each in ("de", "pl", "de")
    ]

    assert ["de", "pl", "de"] == answers
