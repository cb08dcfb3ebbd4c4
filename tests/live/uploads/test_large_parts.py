"""A part without a checksum is acknowledged while it arrives."""

import hashlib

import pytest

from frepo_uploads.receiving import STEP_BYTES
from support.tus.client import PART
from support.tus.wire_client import WireTus, digests
from support.wire import Client, Wire, eventually, head

MIB = 1 << 20
CONTENT = bytes(range(256)) * ((STEP_BYTES + 4 * MIB) // 256)


@pytest.mark.own_server  # stock waitress calls frepo when the part is complete
def test_a_large_part_is_acknowledged_in_steps(start_service):
    service = start_service()
    client = Client(service)
    tus, collection = WireTus(client), client.collection(maxOneVersionSize=0, maxCollectionSize=0)
    path = tus.create(len(CONTENT), collection=collection)
    fields = ("Tus-Resumable: 1.0.0", "Upload-Offset: 0", f"Content-Type: {PART}", f"Content-Length: {len(CONTENT)}")
    with Wire(service) as wire:
        wire.send(head("PATCH", path, client.auth, *fields), CONTENT[: STEP_BYTES + 2 * MIB])
        assert eventually(True, lambda: STEP_BYTES <= tus.offset(path) < len(CONTENT))
        assert 204 == wire.send(CONTENT[STEP_BYTES + 2 * MIB :]).reply().status

    assert [hashlib.sha256(CONTENT).hexdigest()] == digests(client, collection)
