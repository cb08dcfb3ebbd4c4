"""A full disk for temporary files is reported to the client for each kind of body."""

import base64

import pytest

from support.servers.disks import small_disk
from support.wire import Client, field, form

CONTENT = bytes(3 << 20)


@pytest.fixture
def client(start_service, tmp_path):
    with small_disk(tmp_path / "small", "1m") as folder:
        yield Client(start_service(TEMP_DIRECTORY=str(folder)))


SENT = {
    "raw": lambda client: client.upload(CONTENT),
    "chunked": lambda client: client.upload(iter([CONTENT])),
    "form": lambda client: client.multipart(form(field("file", CONTENT, "a.bin"))),
    "base64": lambda client: client.upload(base64.b64encode(CONTENT), encoding="base64"),
    "version": lambda client: client.push(client.collection(), CONTENT),
}


# Stock waitress keeps a body in TMPDIR, and the service copies a plain one into the storage from there.
SPOOLED = [pytest.param(how, marks=pytest.mark.own_server) for how in ("raw", "chunked", "version")]


@pytest.mark.parametrize("how", [*SPOOLED, "form", "base64"])
def test_a_body_without_disk_space_is_answered(client, how):
    answer = SENT[how](client)

    assert (507, 7016104) == (answer.status, answer.json["error_code"])
    assert "temp_directory (TEMP_DIRECTORY) must have room for all uploads" in answer.json["message"]


def test_requests_that_need_no_disk_space_succeed(client):
    client.upload(CONTENT)

    assert client.upload(b"small").status == 200


@pytest.mark.own_server
def test_a_missing_folder_is_a_server_error(start_service, tmp_path):
    folder = tmp_path / "temporary"
    client = Client(start_service(TEMP_DIRECTORY=str(folder)))
    folder.rmdir()

    assert (503, 7016103) == ((answer := client.upload(CONTENT)).status, answer.json["error_code"])
