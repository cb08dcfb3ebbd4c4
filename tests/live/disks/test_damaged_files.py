"""A damaged local file is never downloaded completely, although the server sends it directly."""

import http.client
import os

import pytest

from support.wire import descriptors, eventually

SIZE = 5_000_000


@pytest.fixture
def file(service, client):
    """A file of the service, and its path on the disk."""
    uploaded = client.upload(os.urandom(SIZE)).json
    (path,) = service.storage.rglob(f"{uploaded['sha256']}*")
    return uploaded["filename"], path


def flip(path, at):
    with path.open("r+b") as blob:
        blob.seek(at)
        byte = blob.read(1)
        blob.seek(at)
        blob.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("at", [0, SIZE // 2, SIZE - 1])
def test_a_download_of_damaged_bytes_is_aborted_before_its_end(client, file, at):
    name, path = file
    flip(path, at)

    with pytest.raises(http.client.IncompleteRead) as caught:
        client.download(name)

    assert len(caught.value.partial) < SIZE


def test_aborted_downloads_leak_no_descriptor(service, client, file):
    name, path = file
    flip(path, 7)
    before = len(descriptors(service))
    for _ in range(3):
        with pytest.raises(http.client.IncompleteRead):
            client.download(name)

    assert eventually(True, lambda: len(descriptors(service)) <= before), descriptors(service)


def test_a_repaired_file_is_downloaded(client, file):
    name, path = file
    flip(path, 7)
    flip(path, 7)

    assert path.read_bytes() == client.download(name).body
