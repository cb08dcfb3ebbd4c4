"""Buckets with Object Lock refuse bytes without a checksum; other stores refuse the newer checksums."""

from io import BytesIO

import pytest

from frepo_core.plugins import StorageUnavailable
from frepo_core.testing import Source
from frepo_storage_s3.backend import S3Storage
from frepo_storage_s3.settings import S3Settings
from support.servers.lying_s3 import lying_s3

MIB = 1 << 20
SIZES = pytest.mark.parametrize("size", [3, 6 * MIB], ids=["one request", "parts"])


@pytest.fixture(scope="module")
def store():
    with lying_s3() as store:
        yield store


@pytest.fixture
def open_storage(store):
    def open_storage(mood, **more):
        store.mood = mood
        store.objects.clear()
        place = {"bucket": "frepo", "endpoint": store.endpoint, "region": "eu-central-1", "addressing_style": "path"}
        return S3Storage(
            S3Settings(key="key", secret="secret", attempts=1, part_size=5 * MIB, parallel_parts=1, **place, **more)
        )

    return open_storage


@SIZES
@pytest.mark.parametrize("checksums", ["when_required", "when_supported"])
def test_bytes_are_sent_with_a_checksum_that_object_lock_accepts(open_storage, size, checksums):
    backend = open_storage("locked", request_checksum_calculation=checksums)

    backend.store("key", Source(size).file, size)

    assert size == backend.stat("key").size


def test_a_store_that_refuses_a_checksum_names_the_setting(open_storage):
    backend = open_storage("picky", request_checksum_calculation="when_supported")

    with pytest.raises(StorageUnavailable, match=r"fs\.awss3v3\.request_checksum_calculation \(FS_AWSS3V3_REQUEST_"):
        backend.store("key", BytesIO(b"one"), 3)


def test_another_refusal_does_not_name_the_setting(open_storage):
    backend = open_storage("500")

    with pytest.raises(StorageUnavailable) as caught:
        backend.store("key", BytesIO(b"one"), 3)

    assert "checksum" not in caught.value.message
