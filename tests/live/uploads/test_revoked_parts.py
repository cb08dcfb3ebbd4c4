"""A token that is revoked while its part arrives stores nothing."""

import json

import pytest

from support.tus.client import PART
from support.tus.wire_client import WireTus, digests
from support.wire import Client, Wire, eventually, head

pytestmark = pytest.mark.own_server  # stock waitress calls frepo when the part is complete

CONTENT = bytes(range(256)) * 12_000  # frepo is asked about it before all of it is there
ALL = len(CONTENT)


@pytest.fixture
def revoked(service, client):
    """Send a part of so many bytes, and revoke its token when half of them are there.

    Return the answer, what an administrator sees of the upload, and the collection.
    """

    def revoked(size, headers):
        collection = client.collection(maxOneVersionSize=0, maxCollectionSize=0)
        form = {"roles": ["collections.upload_to_allowed_collections"]}
        made = client.request("POST", "/auth/token/generate", json.dumps(form)).json
        listed = json.dumps({"token": made["tokenId"]})
        assert 200 == client.request("POST", f"/repository/collection/{collection}/token", listed).status
        owner = Client(service, made["tokenId"])
        path = WireTus(owner).create(ALL, headers=headers, collection=collection)
        fields = ("Tus-Resumable: 1.0.0", "Upload-Offset: 0", f"Content-Type: {PART}", f"Content-Length: {size}")
        with Wire(service) as wire:
            wire.send(head("PATCH", path, owner.auth, *fields), CONTENT[: size // 2])
            name = path.rpartition("/")[2]
            (file,) = service.folder.rglob(f"{name}.part")
            assert eventually(size // 2, lambda: file.stat().st_size)
            assert 204 == client.request("DELETE", f"/api/v1/tokens/{made['fingerprint']}").status
            answer = wire.send(CONTENT[size // 2 : size]).reply("PATCH")
        return answer, client.request("GET", path).json, collection

    return revoked


@pytest.mark.parametrize("headers", [{}, {"Upload-Commit": "required"}], ids=["commits itself", "waits"])
@pytest.mark.parametrize("size", [ALL, ALL - 1000], ids=["the last part", "a part"])
def test_nothing_is_acknowledged_nor_stored(client, revoked, size, headers):
    answer, upload, collection = revoked(size, headers)

    assert 401 == answer.status
    assert [] == digests(client, collection)
    assert 0 == upload["offset"]
