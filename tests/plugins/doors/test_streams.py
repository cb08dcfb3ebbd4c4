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


@pytest.fixture
def offers():
    endpoint = Endpoint(
        name="acme_stream",
        method="GET",
        path="/acme/{collection}",
        view=stream,
        summary="Stream",
        permission="version.list",
        answers={200: None},
    )
    return {"endpoints": lambda context: [endpoint]}


def test_a_generator_uses_the_service_after_the_view_has_returned(running, collection):
    running.push(collection, b"SELECT 1;")

    assert b"versions 1" == running.request("GET", f"/acme/{collection}").body


def test_its_errors_are_those_of_the_first_api(running, collection):
    without_token = running.request("GET", f"/acme/{collection}", token="")
    without_collection = running.request("GET", "/acme/00000000-0000-4000-8000-000000000000")

    assert (403, 403) == (without_token.status, without_token.json["error_code"])
    assert 400 == without_collection.status
    assert "form.collection" in without_collection.body.decode()
