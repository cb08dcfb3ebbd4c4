"""Smoke test of the storage `awss3v3` on OpenStack Swift, a second dialect of S3; Ceph runs the contract tests.

moto is not used: it accepts wrong secrets and wrong digests, so a test that passes on it proves nothing.
"""

import urllib.request

import pytest

from frepo_core.plugins import BlobNotFound, StorageUnavailable
from frepo_core.testing import Source, digest, pattern
from frepo_storage_s3 import S3Settings
from frepo_storage_s3.backend import S3Storage, make_client
from support.servers.swift import MISSING, running_swift

MIB = 1 << 20

if MISSING:  # one line, rather than one for each test
    pytest.skip(MISSING, allow_module_level=True)


@pytest.fixture(scope="module")
def bucket():
    """Make settings of an existing bucket; arguments override them."""
    with running_swift() as swift:

        def make(**replaced):
            given = {
                "bucket": "frepo",
                "endpoint": swift.endpoint,
                "region": swift.region,
                "key": swift.key,
                "secret": swift.secret,
                "addressing_style": "path",
            }
            return S3Settings(**(given | replaced))

        make_client(make()).create_bucket(Bucket="frepo")
        yield make


@pytest.fixture
def swift_settings(bucket, request):
    """Make settings with a prefix that only this test uses."""
    return lambda **replaced: bucket(**({"prefix": request.node.name.replace("[", "-").replace("]", "")} | replaced))


@pytest.fixture
def storage(swift_settings):
    return S3Storage(swift_settings())


@pytest.mark.costly
@pytest.mark.parametrize("size", [0, 1, 8 * MIB, 20 * MIB])
def test_a_blob_is_read_as_it_was_stored(storage, size):
    storage.store("aa/key", Source(size).file, size)

    with storage.open("aa/key") as blob:
        assert digest(Source(size)) == digest(blob)
    assert size == storage.stat("aa/key").size


@pytest.mark.costly
@pytest.mark.parametrize("size", [1 * MIB, 20 * MIB])
def test_a_range_is_read_from_what_came_whole_or_in_parts(storage, size):
    storage.store("key", Source(size).file, size)

    with storage.open("key", size - 1000, 10) as first, storage.open("key", size - 5) as last:
        assert (pattern(size - 1000, 10), pattern(size - 5, 5)) == (first.read(), last.read())


def test_a_range_behind_the_end_is_empty(storage):
    storage.store("key", Source(5).file, 5)

    with storage.open("key", 5, 10) as blob:
        assert b"" == blob.read()


def test_the_list_has_the_blobs_of_its_prefix_alone(swift_settings):
    first, second = (S3Storage(swift_settings(prefix=prefix)) for prefix in ("list/a", "list/ab"))
    first.store("aa/large", Source(9 * MIB).file, 9 * MIB)
    second.store("key", Source(6).file, 6)

    found = [[(stat.key, stat.size) for stat in backend.list()] for backend in (first, second)]

    assert [[("aa/large", 9 * MIB)], [("key", 6)]] == found


@pytest.mark.parametrize("size", [5, 20 * MIB])
def test_a_deleted_blob_is_absent(storage, size):
    storage.store("key", Source(size).file, size)

    storage.delete("key")
    storage.delete("key")

    with pytest.raises(BlobNotFound):
        storage.stat("key")
    with pytest.raises(BlobNotFound):
        storage.open("key")


def test_a_presigned_url_gives_the_blob_with_type_and_name(storage):
    storage.store("key", Source(5).file, 5)

    url = storage.url("key", expires=60, filename="dump.sql", content_type="application/sql")

    with urllib.request.urlopen(url) as answer:
        assert pattern(0, 5) == answer.read()
        assert "application/sql" == answer.headers["Content-Type"]
        assert 'attachment; filename="dump.sql"' == answer.headers["Content-Disposition"]


@pytest.mark.costly
@pytest.mark.parametrize("size", [20 * MIB - 1, 20 * MIB + 1])
def test_an_upload_of_another_size_leaves_no_parts(storage, swift_settings, size):
    with pytest.raises(StorageUnavailable):
        storage.store("key", Source(size).file, 20 * MIB)

    answer = make_client(swift_settings()).list_multipart_uploads(Bucket="frepo", Prefix=swift_settings().prefix)
    assert [] == answer.get("Uploads", [])
    assert [] == list(storage.list())


def test_a_wrong_secret_is_refused(swift_settings):
    with pytest.raises(StorageUnavailable):
        S3Storage(swift_settings(secret="wrong")).stat("key")
