"""The servers for the tests of storages, one of each for the whole run, and storages on them."""

import functools
import itertools
import socket

import botocore.session
import pytest

from frepo_storage_s3 import S3Settings
from frepo_storage_s3.backend import S3Storage, make_client
from support.ftp import PASSWORD, USER
from support.servers.ceph import NOT_INSTALLED, ceph_cluster, missing_programs
from support.servers.proftpd import run_proftpd

COUNTER = itertools.count()


@pytest.fixture(scope="session", autouse=True)
def _one_model():
    """Load boto's description of S3 once: it takes 100 ms for each client, more than most tests take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", functools.cache(botocore.session.create_loader))
        yield


@pytest.fixture(scope="session")
def ceph():
    if missing_programs():
        pytest.skip(NOT_INSTALLED)
    with ceph_cluster() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def gateway(ceph):
    with ceph.gateway() as gateway:
        yield gateway


@pytest.fixture(scope="session")
def tls_server():
    with run_proftpd() as server:
        yield server


@pytest.fixture(scope="session")
def plain_server():
    with run_proftpd(tls=False) as server:
        yield server


@pytest.fixture
def own_server():
    """An FTP server that a test may stop or whose sessions it may kill."""
    with run_proftpd() as server:
        yield server


@pytest.fixture
def closed_port():
    """Reserve a port without a listener."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


@pytest.fixture(scope="session")
def s3_bucket(ceph, gateway):
    """Make settings for the gateway and an existing bucket; arguments override them."""

    def make(**replaced):
        given = {
            "bucket": "frepo",
            "endpoint": gateway.endpoint,
            "region": ceph.region,
            "key": ceph.key,
            "secret": ceph.secret,
            "addressing_style": "path",
        }
        return S3Settings(**(given | replaced))

    make_client(make()).create_bucket(Bucket="frepo")
    return make


@pytest.fixture(scope="session")
def lock_enabled(s3_bucket):
    """Make the bucket `locked` with Object Lock."""
    make_client(s3_bucket()).create_bucket(Bucket="locked", ObjectLockEnabledForBucket=True)
    return s3_bucket


@pytest.fixture
def locked_bucket(lock_enabled):
    """Make settings for a bucket with Object Lock, with a prefix that only this test uses."""
    return functools.partial(lock_enabled, bucket="locked", object_lock="compliance", prefix=f"test-{next(COUNTER)}")


@pytest.fixture
def s3_settings(s3_bucket):
    """Make settings with a prefix that only this test uses."""
    prefix = f"test-{next(COUNTER)}"
    return lambda **replaced: s3_bucket(**({"prefix": prefix} | replaced))


@pytest.fixture
def s3(s3_settings):
    return S3Storage(s3_settings())


@pytest.fixture
def s3_client(s3_settings):
    """The driver itself, to inspect the store without the storage."""
    return make_client(s3_settings())


@pytest.fixture
def settings_of(request, tmp_path):
    """Return the settings of a storage on a real server."""

    def settings_of(adapter):
        if adapter == "local":
            return {"directory": tmp_path / "storage"}
        if adapter == "ftp":
            port = request.getfixturevalue("plain_server").port
            return {"host": "127.0.0.1", "port": port, "username": USER, "password": PASSWORD, "root": tmp_path.name}
        settings = request.getfixturevalue("s3_settings")()
        secrets = {name: getattr(settings, name).get_secret_value() for name in ("key", "secret")}
        names = ("bucket", "prefix", "endpoint", "region", "addressing_style")
        return {name: getattr(settings, name) for name in names} | secrets

    return settings_of
