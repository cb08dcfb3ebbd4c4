"""The expiry of a token counts when the head of its upload arrives, its revocation also at the end."""

import json

import pytest

from support.wire import Wire, head

pytestmark = pytest.mark.own_server  # other servers call the application when the body is complete

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.fixture
def upload_slowly(service, client):
    """Upload with a token of its own while `meanwhile` happens to it; return the answer."""

    def upload_slowly(meanwhile, path="/repository/file/upload?fileName=a.bin", collection=None):
        roles = ["upload.all", "collections.upload_to_allowed_collections"]
        form = {"roles": roles, "expires": "+1 day"}
        made = client.request("POST", "/auth/token/generate", json.dumps(form)).json
        if collection:
            listed = json.dumps({"token": made["tokenId"]})
            assert 200 == client.request("POST", f"/repository/collection/{collection}/token", listed).status
        with Wire(service) as wire:
            fields = [f"X-Auth-Token: {made['tokenId']}", "Content-Length: 7", "Expect: 100-continue"]
            wire.send(head("POST", path, *fields))
            assert CONTINUE == wire.socket.recv(100)
            meanwhile(made)
            return wire.send(b"content").reply()

    return upload_slowly


@pytest.fixture
def end(client):
    """Let a token expire now: its successor replaces it at once."""

    def end(made):
        path = f"/api/v1/tokens/{made['fingerprint']}/rotate"
        assert 201 == client.request("POST", path, json.dumps({"overlap": "PT0S"})).status

    return end


@pytest.mark.parametrize("path", ["/repository/file/upload?fileName=a.bin", "/api/v1/files?name=a.bin"])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_token_that_expires_while_its_body_arrives_is_accepted(client, upload_slowly, end, path, is_cleared):
    def meanwhile(made):
        end(made)
        if is_cleared:
            assert 200 == client.request("GET", "/jobs/token/expired/clear").status

    assert upload_slowly(meanwhile, path).status in {200, 201, 202}


@pytest.mark.parametrize("path", ["/repository/collection/{}/backup", "/api/v1/collections/{}/versions"])
def test_a_token_that_expires_and_is_cleared_meanwhile_adds_its_version(client, upload_slowly, end, path):
    def meanwhile(made):
        end(made)
        assert 200 == client.request("GET", "/jobs/token/expired/clear").status

    collection = client.collection()

    assert upload_slowly(meanwhile, path.format(collection), collection).status in {200, 201}


def test_a_token_that_is_revoked_while_its_body_arrives_is_refused(client, upload_slowly, end):
    def meanwhile(made):
        client.request("DELETE", f"/auth/token/{made['tokenId']}")

    assert 403 == upload_slowly(meanwhile).status
