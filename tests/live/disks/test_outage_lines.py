"""A request that is refused because a disk is full or the database is away is one line in the log, no traceback."""

import base64
import contextlib
import os
import pathlib
import re
import time

import pytest

from support.reliability.database_switch import Switch
from support.servers import postgresql
from support.servers.disks import small_disk
from support.wire import Client, eventually

TUS = {"Tus-Resumable": "1.0.0"}
LARGE = os.urandom(2 << 20)
OWN_LINE = re.compile(r"^\S.*(ERROR|WARNING|CRITICAL)", re.MULTILINE)


class Log:
    """What a service has written since the last look."""

    def __init__(self, service):
        self._log = service.log
        self._seen = len(self._log.read_text())

    def new(self):
        """Return what it has written, from the first line on that is its own."""
        eventually(True, lambda: bool(OWN_LINE.search(self._log.read_text()[self._seen :])))
        time.sleep(0.3)  # for a second one
        text = self._log.read_text()[self._seen :]
        self._seen += len(text)
        return text


def form(content):
    start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.bin"\r\n\r\n'
    return start + content + b"\r\n--b--\r\n", {"Content-Type": "multipart/form-data; boundary=b"}


def refuse(client, collection, what):
    """Send one request; return its answer and what its line in the log names."""
    path = f"/repository/collection/{collection}/backup"
    if what == "raw":
        return client.request(
            "POST", "/repository/file/upload?fileName=a.bin&a=5ecre7", LARGE
        ), "POST /repository/{type}/upload"
    if what == "form":
        return client.request("POST", "/repository/file/upload", *form(LARGE)), "POST /repository/{type}/upload"
    if what == "version":
        return client.request("POST", f"{path}?a=5ecre7", LARGE), f"POST {path}"
    return client.request(
        "GET", f"/repository/collection/{collection}?a=5ecre7"
    ), f"GET /repository/collection/{collection}"


def fill(service):
    """Leave no space on the disk of the storage."""
    folder = pathlib.Path(service.environment["FS_LOCAL_DIRECTORY"]).parent
    with (folder / "filler").open("wb", buffering=0) as filler, contextlib.suppress(OSError):
        while filler.write(bytes(4096)):
            pass


def assert_one_line(text, named, client, status=""):
    assert "Traceback" not in text
    assert 1 == len(OWN_LINE.findall(text)), text
    assert named in text and status in text, text
    assert "5ecre7" not in text and client.auth.split()[-1] not in text


@pytest.fixture
def full(start_service, tmp_path):
    """A service whose storage is on a disk that is full, and its client and collection."""
    with small_disk(tmp_path / "small", "16m") as disk:
        service = start_service(
            FS_LOCAL_DIRECTORY=str(disk / "storage"), UPLOADS_MAX_TOTAL="100MB", WORKER_IN_PROCESS="false"
        )
        client = Client(service)
        collection = client.collection()
        yield service, client, collection


def test_an_upload_to_a_full_disk_is_one_line(full):
    service, client, collection = full
    metadata = f"collection {base64.b64encode(collection.encode()).decode()}"
    made = client.request(
        "POST", "/api/v1/uploads", b"", TUS | {"Upload-Length": "500000", "Upload-Metadata": metadata}
    )
    path = "/" + made.headers["Location"].split("/", 3)[3]
    fill(service)
    log = Log(service)

    for what in ("raw", "form", "version"):
        answer, _ = refuse(client, collection, what)

        assert 507 == answer.status, what
        named = f"collection {collection}" if what == "version" else "file 'a.bin': an upload by"
        assert_one_line(log.new(), named, client)

    headers = TUS | {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    answer = client.request("PATCH", path, LARGE[:500_000], headers)

    assert (201, 507) == (made.status, answer.status)
    assert_one_line(log.new(), "PATCH /api/v1/uploads/{", client, " 507")


def test_an_upload_to_a_storage_that_fails_is_one_line(start_service):
    service = start_service(WORKER_IN_PROCESS="false")
    client = Client(service)
    collection = client.collection()
    client.push(collection, b"first")
    service.storage.rename(service.folder / "away")
    service.storage.write_bytes(b"a file in place of the folder")
    log = Log(service)

    answer, named = refuse(client, collection, "version")

    assert 503 == answer.status
    assert_one_line(log.new(), f"{named} from ", client, ": 503: StorageUnavailable: ")


@pytest.fixture
def database():
    if postgresql.MISSING:
        pytest.skip(postgresql.MISSING)
    with postgresql.postgresql() as url:
        yield url


def test_requests_without_a_database_are_one_line_each(start_service, database):
    service = start_service(DATABASE_URL=database, WORKER_IN_PROCESS="false")
    client = Client(service)
    collection = client.collection()
    Switch(database).off()
    log = Log(service)

    for what in ("raw", "form", "version", "read"):
        answer, named = refuse(client, collection, what)

        assert 503 == answer.status
        assert_one_line(log.new(), f"{named} from ", client, ": 503: DatabaseUnavailableError: ")


@pytest.mark.costly  # it waits for twenty seconds
def test_the_worker_writes_a_line_a_minute_without_a_database(start_service, database):
    service = start_service(DATABASE_URL=database)
    Client(service).collection()
    log = Log(service)
    time.sleep(3)  # it leads
    Switch(database).off()

    time.sleep(20)

    text = log.new()
    lines = [line for line in text.splitlines() if ".engine." in line and "WARNING" in line]
    assert "Traceback" not in text
    assert 1 == len(lines), text
