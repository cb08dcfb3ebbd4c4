"""An endpoint outside `/api/v1` whose answer is streamed."""

import pytest
from pyramid.response import Response

from frepo_core.web import Endpoint


def stream(request, context):
    """Read the collection before the view returns; the service also answers afterwards."""
    collection = request.collection.id

    def pieces():
        yield b"versions"
        for version in context.service.versions(collection).items:
            yield f" {version.number}".encode()

    return Response(app_iter=pieces())


def break_off(request):
    def pieces():
        yield b""
        raise OSError("the paint has run out")

    return Response(app_iter=pieces())


@pytest.fixture
def offers():
    broken = Endpoint(
        name="acme_broken",
        method="GET",
        path="/acme/{collection}/{wall}",
        parameters={"wall": "What is painted."},
        view=break_off,
        summary="Break off",
        permission="version.list",
        answers={200: None},
    )
    endpoint = Endpoint(
        name="acme_stream",
        method="GET",
        path="/acme/{collection}",
        view=stream,
        summary="Stream",
        permission="version.list",
        answers={200: None},
    )
    return {"endpoints": lambda context: [endpoint, broken]}


def test_a_generator_uses_the_service_after_the_view_has_returned(running, collection):
    running.push(collection, b"SELECT 1;")

    assert b"versions 1" == running.request("GET", f"/acme/{collection}").body


def test_a_body_that_fails_is_logged_with_the_name_of_the_plugin(running, collection):
    running.request("GET", f"/acme/{collection}/north")

    assert "the body of the endpoint 'acme_broken' (" in running.log
    assert "acme-paint" in running.log.partition("the body of the endpoint 'acme_broken'")[2].partition("\n")[0]


def test_a_parameter_of_its_path_is_documented(running):
    operation = running.request("GET", "/api/doc.json").json["paths"]["/acme/{collection}/{wall}"]["get"]

    assert {"collection": "The collection's id.", "wall": "What is painted."} == {
        one["name"]: one["description"] for one in operation["parameters"]
    }


def test_its_errors_are_those_of_the_first_api(running, collection):
    without_token = running.request("GET", f"/acme/{collection}", token="")
    without_collection = running.request("GET", "/acme/00000000-0000-4000-8000-000000000000")

    assert (403, 403) == (without_token.status, without_token.json["error_code"])
    assert 400 == without_collection.status
    assert "form.collection" in without_collection.body.decode()
