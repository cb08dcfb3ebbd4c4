"""A full disk for temporary files is reported to the client for each kind of body."""

import base64

import pytest

from support.servers.disks import small_disk
from support.servers.service import IS_STOCK
from support.wire import Client, field, form

CONTENT = bytes(3 << 20)


@pytest.fixture(scope="module")
def client(tmp_path_factory, make_service):
    folder = tmp_path_factory.mktemp("full")
    with small_disk(folder / "small", "1m") as small:
        service = make_service(folder, environment={"TEMP_DIRECTORY": str(small)})
        service.start()
        yield Client(service)
        service.stop()


SENT = {
    "raw": lambda client: client.upload(CONTENT),
    "chunked": lambda client: client.upload(iter([CONTENT])),
    "form": lambda client: client.multipart(form(field("file", CONTENT, "a.bin"))),
    "base64": lambda client: client.upload(base64.b64encode(CONTENT), encoding="base64"),
    "version": lambda client: client.push(client.collection(), CONTENT),
}


# Stock waitress keeps a body in TMPDIR, and the service copies a plain one into the storage from there.
SPOOLED = ("raw", "chunked", "version")


def test_a_body_without_disk_space_is_answered_and_a_small_one_is_stored(client):
    for how, send in SENT.items():
        if IS_STOCK and how in SPOOLED:
            continue
        answer = send(client)

        assert (507, 7016104) == (answer.status, answer.json["error_code"]), how
        assert "temp_directory (TEMP_DIRECTORY) must have room for all uploads" in answer.json["message"], how
        assert 200 == client.upload(how.encode()).status, how


@pytest.mark.own_server
def test_a_missing_folder_is_a_server_error(start_service, tmp_path):
    folder = tmp_path / "temporary"
    client = Client(start_service(TEMP_DIRECTORY=str(folder)))
    folder.rmdir()

    assert (503, 7016103) == ((answer := client.upload(CONTENT)).status, answer.json["error_code"])
