"""The storage `awss3v3` meets the storage contract on Ceph's RADOS Gateway; further tests check its uploads."""

import subprocess
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from botocore.exceptions import BotoCoreError, ClientError
from pydantic import ValidationError

from frepo_core.domain.naming import new_blob_key
from frepo_core.plugins import StorageUnavailable
from frepo_core.testing import Source, StorageContract, pattern
from frepo_storage_s3 import S3Settings
from frepo_storage_s3.backend import S3Storage
from support.scale import IS_BIG
from support.servers.ceph import NOT_INSTALLED, missing_programs

MIB = 1 << 20

if missing_programs():  # one line, rather than one for each test
    pytest.skip(NOT_INSTALLED, allow_module_level=True)


class TestS3Storage(StorageContract):
    @pytest.fixture
    def backend(self, s3):
        return s3

    @pytest.fixture
    def unavailable_backend(self, s3_settings, closed_port):
        return S3Storage(s3_settings(endpoint=f"http://127.0.0.1:{closed_port}", attempts=2))

    @pytest.fixture
    def full_backend(self, ceph, s3_client, s3_settings):
        s3_client.create_bucket(Bucket="full")
        ceph.limit_bucket("full", 4096)
        return S3Storage(s3_settings(bucket="full"))

    @pytest.fixture
    def retaining_backend(self, locked_bucket):
        return S3Storage(locked_bucket())

    @pytest.fixture
    def driver_errors(self):
        return (ClientError, BotoCoreError)

    @pytest.fixture
    def offers_url(self):
        return True

    @pytest.fixture
    def list_size(self):
        """A page of S3 has 1000 keys."""
        return 5000 if IS_BIG else 1100

    @pytest.fixture
    def memory_limit(self):
        """The memory of four parts being sent and one being read, 8 MiB each, and a reserve."""
        return 48 * MIB


def fail():
    raise RuntimeError("the client went away")


def parts_left(client, prefix: str) -> list[str]:
    answer = client.list_multipart_uploads(Bucket="frepo", Prefix=prefix)
    return [upload["Key"] for upload in answer.get("Uploads", [])]


@pytest.mark.costly
def test_a_large_blob_is_uploaded_in_parts(s3, s3_client, s3_settings):
    s3.store("large", Source(20 * MIB).file, 20 * MIB)

    assert s3_client.head_object(Bucket="frepo", Key=s3_settings().prefix + "large")["ETag"].endswith('-3"')


def test_parts_are_sent_in_parallel(s3, monkeypatch):
    meeting = threading.Barrier(3, timeout=20)
    upload_part = s3._client.upload_part

    def meet(**arguments):
        meeting.wait()
        return upload_part(**arguments)

    monkeypatch.setattr(s3._client, "upload_part", meet)

    s3.store("large", Source(20 * MIB).file, 20 * MIB)

    assert s3.stat("large").size == 20 * MIB


def test_a_small_blob_is_uploaded_in_one_request(s3, s3_client, s3_settings):
    s3.store("small", Source(8 * MIB).file, 8 * MIB)

    assert "-" not in s3_client.head_object(Bucket="frepo", Key=s3_settings().prefix + "small")["ETag"]


def test_an_aborted_upload_leaves_no_parts(s3, s3_client, s3_settings):
    with pytest.raises(RuntimeError):
        s3.store("large", Source(40 * MIB, at=30 * MIB, do=fail).file, 40 * MIB)

    assert [] == parts_left(s3_client, s3_settings().prefix)


@pytest.mark.parametrize("size", [20 * MIB - 1, 20 * MIB + 1])
def test_an_upload_of_another_size_leaves_no_parts(s3, s3_client, s3_settings, size):
    with pytest.raises(StorageUnavailable):
        s3.store("large", Source(size).file, 20 * MIB)

    assert [] == parts_left(s3_client, s3_settings().prefix)


@pytest.mark.costly
def test_a_part_that_the_store_refuses_fails_the_upload_and_leaves_no_parts(s3, s3_client, s3_settings, monkeypatch):
    upload_part = s3._client.upload_part
    monkeypatch.setattr(s3._client, "upload_part", lambda **arguments: upload_part(**arguments | {"UploadId": "wrong"}))
    source = Source(200 * MIB)

    with pytest.raises(StorageUnavailable):
        s3.store("large", source.file, 200 * MIB)

    assert [] == parts_left(s3_client, s3_settings().prefix)
    assert source.position < 100 * MIB


def test_a_put_whose_answer_gets_lost_leaves_no_object(s3, monkeypatch):
    put_object = s3._client.put_object

    def lose_the_answer(**arguments):
        put_object(**arguments)
        raise ConnectionResetError("the answer got lost")

    monkeypatch.setattr(s3._client, "put_object", lose_the_answer)

    with pytest.raises(StorageUnavailable):
        s3.store("small", BytesIO(b"1"), 1)

    assert [] == list(s3.list())


def test_an_upload_in_parts_whose_last_answer_gets_lost_leaves_no_object(s3, monkeypatch, caplog):
    complete = s3._client.complete_multipart_upload

    def lose_the_answer(**arguments):
        complete(**arguments)
        raise ConnectionResetError("the answer got lost")

    monkeypatch.setattr(s3._client, "complete_multipart_upload", lose_the_answer)

    with pytest.raises(StorageUnavailable):
        s3.store("large", Source(9 * MIB).file, 9 * MIB)

    assert [] == list(s3.list())
    assert [] == caplog.messages


def test_the_prefix_separates_the_blobs_of_two_services(s3_settings):
    first, second = S3Storage(s3_settings(prefix="a/b")), S3Storage(s3_settings(prefix="a/bc/"))
    first.store("key", BytesIO(b"first"), 5)
    second.store("key", BytesIO(b"second"), 6)

    found = [[(stat.key, stat.size) for stat in backend.list()] for backend in (first, second)]

    assert [[("key", 5)], [("key", 6)]] == found


def test_a_folder_made_by_a_web_console_is_not_a_blob(s3, s3_client, s3_settings):
    s3_client.put_object(Bucket="frepo", Key=s3_settings().prefix + "folder/", Body=b"")
    s3_client.put_object(Bucket="frepo", Key=s3_settings().prefix, Body=b"")

    assert [] == list(s3.list())


def test_secrets_do_not_show(s3_settings, ceph):
    assert ceph.secret not in repr(s3_settings())


def test_another_store_than_aws_needs_no_region(s3_settings, monkeypatch):
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    backend = S3Storage(s3_settings(region=""))

    backend.check()

    assert [] == list(backend.list())


def test_credentials_may_come_from_where_boto3_finds_them(s3_settings, ceph, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ceph.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", ceph.secret)
    backend = S3Storage(s3_settings(key="", secret=""))

    backend.check()

    assert [] == list(backend.list())


def test_a_prefix_outside_the_root_is_refused():
    with pytest.raises(ValidationError, match="segment"):
        S3Settings(bucket="frepo", prefix="a/../b")


def test_a_key_without_its_secret_is_refused():
    with pytest.raises(ValidationError, match="together"):
        S3Settings(bucket="frepo", key="key")


def test_checksums_of_the_newer_kind_can_be_switched_on(s3_settings):
    checksums = {"request_checksum_calculation": "when_supported", "response_checksum_validation": "when_supported"}
    backend = S3Storage(s3_settings(**checksums))
    backend.store("key", Source(20 * MIB).file, 20 * MIB)

    with backend.open("key", 5, 10) as blob:
        assert pattern(5, 10) == blob.read()


def test_uploads_carry_no_checksum_of_the_newer_kind_by_default(s3):
    headers = []
    s3._client.meta.events.register("before-send.s3", lambda request, **_: headers.extend(request.headers))

    s3.store("key", BytesIO(b"1"), 1)

    assert headers
    assert [] == [name for name in headers if "checksum" in name.lower() or "trailer" in name.lower()]


@pytest.mark.costly
def test_boto3_is_not_imported_before_a_backend_is_built():
    code = "import frepo_storage_s3 as s, sys; s.frepo_storages(); print('boto3' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_uploads_that_a_crash_left_are_aborted_by_tidying_up(s3, s3_client, s3_settings):
    prefix = s3_settings().prefix
    for key in (new_blob_key("ab" * 32), "aa/left", "other-app/" + new_blob_key("ab" * 32)):
        s3_client.create_multipart_upload(Bucket="frepo", Key=prefix + key)

    young = s3.tidy(datetime.now(UTC) - timedelta(hours=1))
    old = s3.tidy(datetime.now(UTC) + timedelta(hours=1))

    assert (0, 1) == (young, old)
    assert 2 == len(parts_left(s3_client, prefix)), "uploads of others stay"


@pytest.mark.costly
def test_all_uploads_share_the_memory_for_parts_of_one(s3_settings):
    backend = S3Storage(s3_settings(part_size=5 * MIB, parallel_parts=2))
    content = pattern(0, 20 * MIB)
    tracemalloc.start()
    try:
        with ThreadPoolExecutor(6) as threads:
            list(threads.map(lambda number: backend.store(f"aa/{number}", BytesIO(content), len(content)), range(6)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 30 * MIB  # three parts, and the memory to send them; with separate buffers it would be 90
    assert [20 * MIB] * 6 == [stat.size for stat in backend.list()]


@pytest.mark.costly
def test_failed_uploads_release_their_memory(s3_settings):
    backend = S3Storage(s3_settings(part_size=5 * MIB, parallel_parts=1))
    for _ in range(4):
        with pytest.raises(StorageUnavailable, match="ends"):
            backend.store("aa/short", BytesIO(b"x" * 7 * MIB), 12 * MIB)
    backend.store("aa/whole", BytesIO(b"x" * 12 * MIB), 12 * MIB)

    assert ["aa/whole"] == [stat.key for stat in backend.list()]


def test_the_free_space_is_what_the_quota_of_the_user_leaves(ceph, s3_client, s3_settings):
    s3_client.create_bucket(Bucket="counted")
    backend = S3Storage(s3_settings(bucket="counted"))
    assert backend.free_space() is None

    user = ("--quota-scope=user", "--uid=frepo")
    ceph.run("radosgw-admin", "quota", "set", *user, f"--max-size={1 << 40}B")
    try:
        backend.store("blob", BytesIO(b"12345"), 5)

        assert (1 << 40) - 5 == backend.free_space()
    finally:
        ceph.run("radosgw-admin", "quota", "set", *user, "--max-size=-1")


def test_the_free_space_of_a_bucket_that_does_not_exist_is_an_error(s3_settings):
    with pytest.raises(StorageUnavailable, match="'nowhere' does not exist"):
        S3Storage(s3_settings(bucket="nowhere")).free_space()
