"""The expiry of a token counts when the head of its upload arrives, its revocation also at the end."""

import json
import time
from datetime import UTC, datetime

import pytest

from support.wire import Wire, head

pytestmark = pytest.mark.own_server  # other servers call the application when the body is complete

SOON = "+2 seconds"
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.fixture
def upload_slowly(service, client):
    """Upload with a token of its own while `meanwhile` happens to it; return the answer."""

    def upload_slowly(meanwhile, path="/repository/file/upload?fileName=a.bin", collection=None, expires="+1 day"):
        roles = ["upload.all", "collections.upload_to_allowed_collections"]
        form = {"roles": roles, "expires": expires}
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
def expire(client):
    """Wait until a token has expired, and remove it if that is asked for."""

    def expire(made, is_cleared=True):
        end = datetime.fromisoformat(client.request("GET", f"/api/v1/tokens/{made['fingerprint']}").json["expires_at"])
        time.sleep(max((end - datetime.now(UTC)).total_seconds(), 0) + 0.1)
        if is_cleared:
            assert 200 == client.request("GET", "/jobs/token/expired/clear").status

    return expire


@pytest.mark.parametrize("path", ["/repository/file/upload?fileName=a.bin", "/api/v1/files?name=a.bin"])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_token_that_expires_while_its_body_arrives_is_accepted(upload_slowly, expire, path, is_cleared):
    answer = upload_slowly(lambda made: expire(made, is_cleared), path, expires=SOON)

    assert answer.status in {200, 201, 202}


@pytest.mark.parametrize("path", ["/repository/collection/{}/backup", "/api/v1/collections/{}/versions"])
def test_a_token_that_expires_and_is_cleared_meanwhile_adds_its_version(client, upload_slowly, expire, path):
    collection = client.collection()

    assert upload_slowly(expire, path.format(collection), collection, expires=SOON).status in {200, 201}


def test_a_token_whose_end_somebody_brings_forward_meanwhile_is_refused(client, upload_slowly):
    def rotate(made):
        path = f"/api/v1/tokens/{made['fingerprint']}/rotate"
        assert 201 == client.request("POST", path, json.dumps({"overlap": "PT0S"})).status

    assert 403 == upload_slowly(rotate).status


def test_a_token_that_is_revoked_while_its_body_arrives_is_refused(client, upload_slowly):
    def meanwhile(made):
        client.request("DELETE", f"/auth/token/{made['tokenId']}")

    assert 403 == upload_slowly(meanwhile).status
