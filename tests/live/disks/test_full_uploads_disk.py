"""A disk that is full in the middle of an upload in parts is told, and nothing that was acknowledged is lost."""

import base64
import os

import pytest

from support.servers.disks import small_disk
from support.wire import Client

TUS = {"Tus-Resumable": "1.0.0"}
PART = os.urandom(1 << 20)
SIZE = 4 << 20


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "small", "16m") as folder:
        yield folder


@pytest.fixture
def client(start_service, disk):
    return Client(start_service(FS_LOCAL_DIRECTORY=str(disk / "storage"), UPLOADS_MAX_TOTAL="100MB"))


def test_a_full_disk_is_answered_and_the_upload_goes_on_when_there_is_room(client, disk):
    collection = client.collection()
    metadata = f"collection {base64.b64encode(collection.encode()).decode()}"
    made = client.request(
        "POST", "/api/v1/uploads", b"", TUS | {"Upload-Length": str(SIZE), "Upload-Metadata": metadata}
    )
    path = "/" + made.headers["Location"].split("/", 3)[3]

    def send(offset):
        headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
        return client.request("PATCH", path, PART, TUS | headers)

    def offset():
        return int(client.request("HEAD", path, None, TUS).headers["Upload-Offset"])

    first = send(0)
    left = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    (disk / "other").write_bytes(bytes(left - 200_000))
    full = send(len(PART))
    between = offset()
    (disk / "other").unlink()
    while (known := offset()) < SIZE and send(known).status == 204:
        pass
    versions = client.request("GET", f"/api/v1/collections/{collection}/versions").json["items"]

    assert (201, 204, 507) == (made.status, first.status, full.status), full.body
    assert len(PART) <= between < 2 * len(PART)
    assert [SIZE] == [one["size"] for one in versions]
