"""The errors of the storage `awss3v3` if its store is misconfigured, stops, hangs or disconnects; presigned URLs."""

import signal
import threading
import time
import urllib.error
import urllib.request
from contextlib import suppress
from io import BytesIO

import pytest
from botocore.exceptions import ClientError

from frepo_core.plugins import BlobNotFound, ConfigurationError, StorageUnavailable
from frepo_core.testing import Source, digest, pattern
from frepo_storage_s3.backend import S3Storage
from frepo_storage_s3.content import download
from support.servers.ceph import NOT_INSTALLED, missing_programs

MIB = 1 << 20

if missing_programs():  # one line, rather than one for each test
    pytest.skip(NOT_INSTALLED, allow_module_level=True)


def test_a_missing_bucket_is_not_reported_as_a_missing_blob(s3_settings):
    for operation in ["open", "stat", "delete", "list", "store", "store parts"]:
        backend = S3Storage(s3_settings(bucket="absent"))

        with pytest.raises(StorageUnavailable, match="bucket|Bucket"):
            act(backend, operation)


def test_wrong_credentials_are_not_reported_as_a_missing_blob(s3_settings):
    for operation in ["open", "stat", "delete", "list", "store", "store parts"]:
        backend = S3Storage(s3_settings(secret="wrong"))

        with pytest.raises(StorageUnavailable) as caught:
            act(backend, operation)

        assert isinstance(caught.value.__cause__, ClientError), operation


def test_without_an_access_key_the_settings_for_it_are_named(s3_settings, monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    backend = S3Storage(s3_settings(key="", secret=""))

    for operation in ("open", "list", "store", "store parts"):
        with pytest.raises(StorageUnavailable, match=r"fs\.awss3v3\.key.*storage\.NAME\.key"):
            act(backend, operation)


def act(backend: S3Storage, operation: str) -> None:
    match operation:
        case "store":
            backend.store("key", BytesIO(b"1"), 1)
        case "store parts":
            backend.store("key", Source(9 * MIB).file, 9 * MIB)
        case "list":
            list(backend.list())
        case _:
            getattr(backend, operation)("key")


@pytest.mark.parametrize("wrong", [{"endpoint": "no url"}, {"region": "no region"}])
def test_an_endpoint_or_region_that_cannot_be_one_is_a_configuration_error(s3_settings, wrong):
    with pytest.raises(ConfigurationError, match="FS_AWSS3V3"):
        S3Storage(s3_settings(**wrong))


def test_a_gateway_that_was_stopped_is_unavailable_soon(ceph, s3_settings):
    with ceph.gateway() as gateway:
        backend = S3Storage(s3_settings(endpoint=gateway.endpoint))
        backend.store("key", BytesIO(b"1"), 1)
    started = time.monotonic()

    with pytest.raises(StorageUnavailable):
        backend.open("key")

    assert time.monotonic() - started < 40


def test_a_gateway_that_hangs_is_unavailable_when_its_time_is_over(ceph, s3_settings):
    with ceph.gateway() as gateway:
        S3Storage(s3_settings(endpoint=gateway.endpoint)).store("key", BytesIO(b"1"), 1)
        backend = S3Storage(s3_settings(endpoint=gateway.endpoint, read_timeout=0.5, attempts=2))
        gateway.process.send_signal(signal.SIGSTOP)
        started = time.monotonic()

        with pytest.raises(StorageUnavailable):
            backend.stat("key")

    assert time.monotonic() - started < 40


@pytest.mark.costly
def test_parts_after_failed_ones_are_correct(ceph, s3_settings):
    """The memory of parts is reused, even if a stored exception refers to it."""
    sizes = (9 * MIB, 17 * MIB + 1, 40 * MIB)
    with ceph.gateway() as gateway:
        backend = S3Storage(s3_settings(endpoint=gateway.endpoint, read_timeout=20, attempts=1))
        hang = Source(48 * MIB, at=20 * MIB, do=lambda: gateway.process.send_signal(signal.SIGSTOP))
        with pytest.raises(StorageUnavailable) as kept:
            backend.store("key", hang.file, hang.size)
        gateway.process.send_signal(signal.SIGCONT)
        for size in sizes:
            backend.store(f"key{size}", Source(size).file, size)

        found = [digest(backend.open(f"key{size}")) for size in sizes]

    assert found == [digest(Source(size)) for size in sizes]
    assert kept.value.__traceback__


@pytest.mark.costly
def test_uploads_that_fail_give_the_memory_of_their_parts_back(s3):
    """There is memory for five parts: an upload would wait forever if failed uploads kept theirs."""

    def fail():
        raise ValueError("the source")

    def upload():
        for at in (MIB, 9 * MIB, 17 * MIB) * 2:
            with suppress(ValueError):
                s3.store("key", Source(20 * MIB, at=at, do=fail).file, 20 * MIB)
        s3.store("key", Source(9 * MIB).file, 9 * MIB)

    uploads = threading.Thread(target=upload, daemon=True)
    uploads.start()
    uploads.join(60)

    assert not uploads.is_alive()
    assert s3.stat("key").size == 9 * MIB


def test_a_gateway_that_dies_during_a_download_ends_it_with_an_error(ceph, s3_settings):
    with ceph.gateway() as gateway:
        backend = S3Storage(s3_settings(endpoint=gateway.endpoint))
        backend.store("key", Source(64 * MIB).file, 64 * MIB)
        blob = backend.open("key")
        first = blob.read(10)

    with pytest.raises(StorageUnavailable), blob:
        while blob.read(MIB):
            pass

    assert pattern(0, 10) == first


def test_a_body_that_ends_early_is_an_error():
    with pytest.raises(StorageUnavailable, match="5 bytes early"), download("key", BytesIO(b"12345"), 10) as blob:
        blob.read()


def presign(backend: S3Storage, **replaced) -> str:
    given = {"expires": 60, "filename": "dump.sql", "content_type": "application/sql"}
    return backend.url("key", **(given | replaced))


def test_a_url_serves_ranges(s3):
    s3.store("key", Source(1000).file, 1000)
    request = urllib.request.Request(presign(s3), headers={"Range": "bytes=10-19"})

    with urllib.request.urlopen(request, timeout=30) as answer:
        assert (206, pattern(10, 10)) == (answer.status, answer.read())


def test_a_url_makes_the_blob_an_attachment(s3):
    s3.store("key", BytesIO(b"1"), 1)

    with urllib.request.urlopen(presign(s3), timeout=30) as answer:
        assert answer.headers["Content-Disposition"] == 'attachment; filename="dump.sql"'


@pytest.mark.parametrize("change", [("/key", "/yek"), ("dump", "pmud")], ids=["another key", "another name"])
def test_a_url_that_is_changed_is_refused(s3, change):
    s3.store("key", BytesIO(b"1"), 1)
    s3.store("yek", BytesIO(b"2"), 1)

    with pytest.raises(urllib.error.HTTPError, match="403") as caught:
        urllib.request.urlopen(presign(s3).replace(*change), timeout=30)

    caught.value.close()


def test_a_url_expires(s3):
    s3.store("key", BytesIO(b"1"), 1)
    url = presign(s3, expires=1)
    time.sleep(2.2)

    with pytest.raises(urllib.error.HTTPError, match="403") as caught:
        urllib.request.urlopen(url, timeout=30)

    caught.value.close()


def test_an_absent_blob_is_missed_in_an_existing_bucket(s3):
    with pytest.raises(BlobNotFound):
        s3.stat("absent")
