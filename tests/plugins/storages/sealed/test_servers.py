"""The storage `sealed` meets the storage contract over Ceph's RADOS Gateway and over proftpd."""

import ftplib

import pytest
from botocore.exceptions import BotoCoreError, ClientError

from frepo_core.testing import StorageContract
from frepo_storage_s3.backend import S3Storage
from support.ftp import FULL, needs_proftpd, storage
from support.scale import only_in_long_form
from support.servers.proftpd import run_proftpd

from .test_contract import sealed

MIB = 1 << 20


@only_in_long_form
class TestOverS3(StorageContract):
    @pytest.fixture
    def backend(self, s3):
        return sealed(s3)

    @pytest.fixture
    def unavailable_backend(self, s3_settings, closed_port):
        return sealed(S3Storage(s3_settings(endpoint=f"http://127.0.0.1:{closed_port}", attempts=2)))

    @pytest.fixture
    def full_backend(self, ceph, s3_client, s3_settings):
        s3_client.create_bucket(Bucket="full-sealed")
        ceph.limit_bucket("full-sealed", 4096)
        return sealed(S3Storage(s3_settings(bucket="full-sealed")))

    @pytest.fixture
    def retaining_backend(self, locked_bucket):
        return sealed(S3Storage(locked_bucket()))

    @pytest.fixture
    def driver_errors(self):
        return (ClientError, BotoCoreError)

    @pytest.fixture
    def list_size(self):
        return 1100

    @pytest.fixture
    def memory_limit(self):
        """The memory of four parts being sent and one being read, 8 MiB each, and a reserve."""
        return 48 * MIB


@only_in_long_form
@needs_proftpd
class TestOverFTP(StorageContract):
    @pytest.fixture
    def backend(self, tls_server):
        return sealed(storage(tls_server))

    @pytest.fixture
    def unavailable_backend(self, tls_server, closed_port):
        return sealed(storage(tls_server, port=closed_port))

    @pytest.fixture
    def full_backend(self):
        with run_proftpd(directives=FULL) as server:
            yield sealed(storage(server))

    @pytest.fixture
    def driver_errors(self):
        return (ftplib.Error, OSError, EOFError)

    @pytest.fixture
    def list_size(self):
        return 300
