"""A plug-in that adds a version in a view answers as the ordinary upload does."""

import io

import pytest

from frepo_core.web import Endpoint, StoredFile, Version, file_answer, version_answer, version_content, version_path

from .conftest import DUMP


def endpoints(context):
    def add(request):
        collection = request.collection.id
        added = context.service.add_version(collection, io.BytesIO(DUMP), by=request.sender)
        assert version_path(collection, added.number).endswith("/versions/v1")
        return version_answer(request, collection, added.number)

    def upload(request):
        file = context.service.upload_file(io.BytesIO(DUMP), "a.sql", by=request.sender)
        return file_answer(request, file.name, is_new=file.is_new)

    def read(request):
        return version_content(request, request.collection.id, int(request.matchdict["number"]))

    return [
        Endpoint(
            name="acme_read",
            method="GET",
            path="/api/v1/acme/{collection}/{number}",
            view=read,
            summary="Read",
            permission="version.list",
            answers={200: None, 206: None},
        ),
        Endpoint(
            name="acme_add",
            method="POST",
            path="/api/v1/acme/{collection}",
            view=add,
            summary="Add",
            permission="version.upload",
            writes=True,
            answers={201: Version},
        ),
        Endpoint(
            name="acme_upload",
            method="POST",
            path="/api/v1/acme",
            view=upload,
            summary="Upload",
            permission="file.upload",
            writes=True,
            answers={200: StoredFile, 201: StoredFile},
        ),
    ]


@pytest.fixture
def offers():
    return {"endpoints": endpoints}


def parts(answer):
    """Return what two answers to the same upload have in common."""
    own = ("id", "created_at", "file_name")
    body = {name: value for name, value in answer.json.items() if name not in own}
    return answer.status, body, answer.headers["repr-digest"]


@pytest.mark.costly
def test_a_version_is_answered_as_an_upload_is(running):
    first, second = (running.make_collection() for _ in range(2))

    own = running.request("POST", f"/api/v1/acme/{first}")
    ordinary = running.request("POST", f"/api/v1/collections/{second}/versions", DUMP)

    assert parts(ordinary) == parts(own)
    assert f"{running.url}/api/v1/collections/{first}/versions/v1" == own.headers["location"]
    shown = running.request("GET", own.headers["location"]).json
    assert own.json == {name: shown[name] for name in own.json}


def test_the_content_of_a_version_is_sent_as_a_download(running):
    collection = running.make_collection()
    running.push(collection, DUMP)
    part = {"Range": "bytes=3-5"}
    paths = (f"/api/v1/acme/{collection}/1", f"/api/v1/collections/{collection}/versions/v1/content")
    own, ordinary = (running.request("GET", path, headers=part) for path in paths)
    changing = ("date", "etag")

    assert (206, DUMP[3:6]) == (own.status, own.body)
    assert {name: value for name, value in ordinary.headers.items() if name not in changing} == {
        name: value for name, value in own.headers.items() if name not in changing
    }
    assert 404 == running.request("GET", f"/api/v1/acme/{collection}/7").status
    assert 401 == running.request("GET", paths[0], token="").status


def test_a_file_is_answered_as_an_upload_is(running):
    own = running.request("POST", "/api/v1/acme")
    ordinary = running.request("POST", "/api/v1/files?name=a.sql", DUMP)

    assert (201, 200) == (own.status, ordinary.status)
    assert (own.json, own.headers["location"]) == (ordinary.json, ordinary.headers["location"])
