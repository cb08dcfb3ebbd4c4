"""The expiry of a token counts when the head of its upload arrives, its revocation also at the end."""

import json
import time
from datetime import UTC, datetime

import pytest

from support.wire import Wire, head

pytestmark = pytest.mark.own_server  # other servers call the application when the body is complete

SOON = (2, 6, 20, 60)  # seconds until the expiry; on a busy machine, the head takes longer than the first of them
ROLES = ["upload.all", "collections.upload_to_allowed_collections"]
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


@pytest.fixture
def make_token(client):
    """Make a token that may upload, also to a collection; return the answer."""

    def make_token(collection=None, expires="+1 day"):
        made = client.request("POST", "/auth/token/generate", json.dumps({"roles": ROLES, "expires": expires})).json
        if collection:
            listed = json.dumps({"token": made["tokenId"]})
            assert 200 == client.request("POST", f"/repository/collection/{collection}/token", listed).status
        return made

    return make_token


@pytest.fixture
def upload_slowly(service):
    """Upload with a token while `meanwhile` happens to it; return the answer, or None if the head is refused."""

    def upload_slowly(made, meanwhile, path="/repository/file/upload?fileName=a.bin"):
        with Wire(service) as wire:
            fields = [f"X-Auth-Token: {made['tokenId']}", "Content-Length: 7", "Expect: 100-continue"]
            wire.send(head("POST", path, *fields))
            if wire.socket.recv(100) != CONTINUE:
                return None
            meanwhile(made)
            return wire.send(b"content").reply()

    return upload_slowly


@pytest.fixture
def upload_beyond_the_end(client, make_token, upload_slowly):
    """Upload with a token that expires, and is perhaps removed, while the body arrives; return the answer."""

    def upload(path, collection=None, is_cleared=True):
        def expire(made):
            answer = client.request("GET", f"/api/v1/tokens/{made['fingerprint']}")
            end = datetime.fromisoformat(answer.json["expires_at"])
            time.sleep(max((end - datetime.now(UTC)).total_seconds(), 0) + 0.1)
            if is_cleared:
                assert 200 == client.request("GET", "/jobs/token/expired/clear").status

        for seconds in SOON:
            if answer := upload_slowly(make_token(collection, f"+{seconds} seconds"), expire, path):
                return answer
        raise AssertionError(f"the head of no upload arrived within {SOON[-1]} seconds")

    return upload


@pytest.mark.parametrize("path", ["/repository/file/upload?fileName=a.bin", "/api/v1/files?name=a.bin"])
@pytest.mark.parametrize("is_cleared", [False, True])
def test_a_token_that_expires_while_its_body_arrives_is_accepted(upload_beyond_the_end, path, is_cleared):
    assert upload_beyond_the_end(path, is_cleared=is_cleared).status in {200, 201, 202}


@pytest.mark.parametrize("path", ["/repository/collection/{}/backup", "/api/v1/collections/{}/versions"])
def test_a_token_that_expires_and_is_cleared_meanwhile_adds_its_version(client, upload_beyond_the_end, path):
    collection = client.collection()

    assert upload_beyond_the_end(path.format(collection), collection).status in {200, 201}


def test_a_token_whose_end_somebody_brings_forward_meanwhile_is_refused(client, make_token, upload_slowly):
    def rotate(made):
        path = f"/api/v1/tokens/{made['fingerprint']}/rotate"
        assert 201 == client.request("POST", path, json.dumps({"overlap": "PT0S"})).status

    assert 403 == upload_slowly(make_token(), rotate).status


def test_a_token_that_is_revoked_while_its_body_arrives_is_refused(client, make_token, upload_slowly):
    def meanwhile(made):
        client.request("DELETE", f"/auth/token/{made['tokenId']}")

    assert 403 == upload_slowly(make_token(), meanwhile).status
