"""Endpoints of plug-ins: valid declarations, and declarations that prevent the start."""

from dataclasses import replace

import pytest
from pydantic import BaseModel
from webtest import TestApp

from frepo_core.errors import ConfigurationError
from frepo_core.plugins.registry import FoundPlugin, PluginRegistry
from frepo_core.web import Answer, Endpoint, Query, Reply, make_app


class EchoQuery(Query):
    word: str = "nothing"


class EchoReply(Reply):
    word: str


def echo(request):
    """Return the text of the query."""
    return Answer(body=EchoReply(word=request.query_as(EchoQuery).word))


GOOD = {
    "name": "echo",
    "method": "GET",
    "path": "/echo",
    "view": echo,
    "summary": "Echo",
    "permission": "token",
    "query": EchoQuery,
    "answers": {200: EchoReply},
}


def plugin(name, *endpoints):
    return FoundPlugin(
        name=name,
        distribution=f"frepo-{name}",
        version="1",
        storages=[],
        strategies=[],
        endpoints=lambda context: endpoints,
    )


@pytest.fixture
def make_app_with(services):
    """Build the web application with additional plug-ins."""

    def make(*plugins):
        registry = PluginRegistry([*services.plugins.found, *plugins])
        return TestApp(make_app(replace(services, plugins=registry)))

    return make


def test_an_endpoint_of_a_plugin_answers(make_app_with, make_token):
    app = make_app_with(plugin("echo", Endpoint(**GOOD)))

    answer = app.get("/echo", params={"_token": make_token(), "word": "hello"})

    assert answer.json == {"word": "hello"}


def test_an_endpoint_of_a_plugin_requires_a_token(make_app_with):
    app = make_app_with(plugin("echo", Endpoint(**GOOD)))

    answer = app.get("/echo", status=403)

    assert answer.json["error_code"] == 403


def test_a_wrong_method_on_a_path_of_a_plugin_is_refused(make_app_with):
    app = make_app_with(plugin("echo", Endpoint(**GOOD)))

    answer = app.post("/echo", status=405)

    assert answer.headers["Allow"] == "GET, HEAD"


def test_a_view_reads_the_parameters_of_its_path(make_app_with, make_token):
    def show(request):
        return Answer(body=EchoReply(word=request.matchdict["volume"]))

    app = make_app_with(plugin("echo", Endpoint(**(GOOD | {"path": "/echo/{volume}", "view": show}))))
    token = {"_token": make_token()}

    assert {"word": "a b"} == app.get("/echo/a%20b", params=token).json
    for path in ("/echo/", "/echo/a/b", "/echo/a%2Fb"):
        app.get(path, params=token, status=404)


def test_a_plugin_may_use_methods_of_other_protocols(make_app_with, make_token):
    app = make_app_with(plugin("echo", Endpoint(**(GOOD | {"method": "PROPFIND"}))))
    app.lint = False  # it knows no other methods than those of RFC 9110
    path = f"/echo?_token={make_token()}&word=hello"

    assert {"word": "hello"} == app.request(path, method="PROPFIND").json
    assert "PROPFIND" == app.get(path, status=405).headers["Allow"]


def test_an_endpoint_of_a_plugin_is_described(make_app_with):
    app = make_app_with(plugin("echo", Endpoint(**GOOD)))

    document = app.get("/api/doc.json").json

    assert document["paths"]["/echo"]["get"]["summary"] == "Echo"
    assert document["paths"]["/echo"]["get"]["tags"] == ["Plug-ins"]


def test_a_placeholder_of_a_plugin_is_described(make_app_with):
    app = make_app_with(plugin("echo", Endpoint(**(GOOD | {"path": "/echo/{volume}"}))))

    document = app.get("/api/doc.json").json

    assert document["paths"]["/echo/{volume}"]["get"]["parameters"][0]["name"] == "volume"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "show_version"}, "the name 'show_version' of GET /echo belongs to an endpoint of frepo-core"),
        ({"path": "/version"}, "GET /version belongs to frepo-core"),
        ({"path": "/repository/collection/{id}"}, "belongs to frepo-core"),
        ({"permission": "echo.listen"}, "unknown permission 'echo.listen'"),
        ({"answers": {299: EchoReply}}, "answers the status 299"),
        ({"body_sink": print}, "has a body_sink"),
        ({"method": "POST", "body_sink": print, "content": True}, "has a body_sink"),
        ({"method": "POST", "method_override": True}, "has method_override, which is for DELETE, PATCH, PUT"),
    ],
)
def test_an_endpoint_that_cannot_be_served_is_an_error_at_boot(make_app_with, changes, message):
    with pytest.raises(ConfigurationError, match=message):
        make_app_with(plugin("echo", Endpoint(**(GOOD | changes))))


def test_two_plugins_cannot_have_one_endpoint(make_app_with):
    with pytest.raises(ConfigurationError, match="'second' of the package frepo-second.*belongs to frepo-first"):
        make_app_with(plugin("first", Endpoint(**GOOD)), plugin("second", Endpoint(**GOOD)))


def test_an_invalid_endpoint_is_an_error_at_boot(make_app_with):
    with pytest.raises(ConfigurationError, match=r"is no frepo_core\.web\.Endpoint"):
        make_app_with(plugin("echo", BaseModel))
