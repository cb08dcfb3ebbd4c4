"""Buckets with Object Lock: which uploads they refuse, and that nobody deletes locked versions from them."""

from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from botocore.exceptions import ClientError

from frepo_core.db.models import Retained
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import BlobNotFound, BlobRetained, VersionLockedError
from frepo_core.features.moves.migration import Migrator
from frepo_core.plugins import StorageUnavailable
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.upkeep.storage import SweepPlan, sweep
from frepo_core.testing import Source
from frepo_storage_s3.backend import S3Storage, make_client
from frepo_storage_s3.examination import examine
from frepo_storage_s3.settings import S3Settings
from support.servers.forgetting_s3 import forgetting_s3
from support.servers.lying_s3 import lying_s3

MIB = 1 << 20
DAY = timedelta(days=1)
KEY = "5d/5d41402abc4b2a76b9719d911017c592-0a1b2c3d"
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


@pytest.fixture
def bucket(locked_bucket):
    return locked_bucket()


@pytest.fixture
def thief(bucket):
    """A client with the keys of the bucket."""
    return make_client(bucket)


@pytest.fixture
def ini(ini, bucket):
    names = ("bucket", "endpoint", "region", "addressing_style", "prefix", "object_lock")
    place = {f"fs.awss3v3.{name}": getattr(bucket, name) for name in names}
    secrets = {f"fs.awss3v3.{name}": getattr(bucket, name).get_secret_value() for name in ("key", "secret")}
    return ini | place | secrets | {"fs.adapter": "awss3v3"}


@pytest.fixture
def by(services):
    token = services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id
    return services.tokens.identify(token, address="127.0.0.1", user_agent="")


@pytest.fixture
def push(services, by):
    def push(collection, content):
        incoming = Incoming(stream=BytesIO(content))
        return services.add_version.add(services.collections.get(collection), incoming, by=by).version

    return push


@pytest.fixture
def kept(thief, bucket):
    """Return until when the bucket keeps the bytes of a version; None if it does not."""

    def kept(version):
        head = thief.head_object(Bucket="locked", Key=bucket.prefix + version.file.blob.key)
        return head.get("ObjectLockRetainUntilDate")

    return kept


def is_same(one, other):
    return one is not None and abs(one - other) < timedelta(seconds=2)


def test_nobody_deletes_the_bytes_of_a_locked_version(services, by, push, kept, thief, bucket):
    collection = services.collections.create(
        CollectionChange(limits={COUNT: 1}, filename="a.sql", locked=30 * DAY), by=by
    ).id
    version = push(collection, b"a dump")
    name = bucket.prefix + version.file.blob.key
    assert is_same(kept(version), version.locked_until)

    with pytest.raises(VersionLockedError):
        push(collection, b"another")
    with pytest.raises(BlobRetained):
        services.backends.get("awss3v3").delete(version.file.blob.key)
    for entry in thief.list_object_versions(Bucket="locked", Prefix=name)["Versions"]:
        for more in ({}, {"BypassGovernanceRetention": True}):
            with pytest.raises(ClientError, match="AccessDenied"):
                thief.delete_object(Bucket="locked", Key=name, VersionId=entry["VersionId"], **more)
    thief.delete_object(Bucket="locked", Key=name)  # hides it

    assert version.file.blob.size == services.backends.get("awss3v3").stat(version.file.blob.key).size
    thief.delete_object(Bucket="locked", Key=name)
    with services.backends.get("awss3v3").open(version.file.blob.key) as blob:
        assert b"a dump" == blob.read()


@pytest.mark.costly
def test_the_job_retains_what_is_shared_and_what_is_locked_longer(services, by, push, kept):
    plain = services.collections.create(CollectionChange(limits={}, filename="a.sql"), by=by).id
    locked = services.collections.create(CollectionChange(limits={}, filename="b.sql", locked=10 * DAY), by=by).id
    shared, own = push(plain, b"shared"), push(plain, b"own")
    assert kept(shared) is kept(own) is None
    later = push(locked, b"shared")
    assert is_same(kept(shared), later.locked_until)

    services.collections.edit(plain, CollectionChange(limits={}, locked=5 * DAY), by=by)
    assert 1 == services.retention.retain_all(lambda: None)  # the other one is retained longer
    services.collections.edit(locked, CollectionChange(limits={}, locked=20 * DAY), by=by)
    assert (1, 0) == tuple(services.retention.retain_all(lambda: None) for _ in range(2))

    assert is_same(kept(shared), services.versions.find(locked, "v1").locked_until)
    assert is_same(kept(own), services.versions.find(plain, "v2").locked_until)
    with services.database.reading() as session:
        assert 2 == session.query(Retained).count()


@pytest.mark.costly
def test_a_migration_with_purge_leaves_what_the_bucket_retains(services, by, push, kept):
    plain = services.collections.create(CollectionChange(limits={}, filename="a.sql"), by=by).id
    locked = services.collections.create(CollectionChange(limits={}, filename="b.sql", locked=10 * DAY), by=by).id
    versions = {number: push(locked, b"night %d" % number) for number in (1, 2)}
    free = push(plain, b"free")
    migrator = Migrator(services.database, services.backends, source="awss3v3", target="local")

    for moved in (3, 0):  # a second run does not fail either
        report = migrator.run(purge=True)
        assert (moved, bool(moved), []) == (report.moved, bool(report.purged), report.failed)

    bucket = services.backends.get("awss3v3")
    for number, version in versions.items():
        blob = services.versions.find(locked, f"v{number}").file.blob
        assert "local" == blob.storage
        with services.stored_content.open(blob) as content:
            assert b"night %d" % number == content.read()
        assert version.file.blob.size == bucket.stat(version.file.blob.key).size
        assert is_same(kept(version), version.locked_until)
        with pytest.raises(VersionLockedError):
            services.versions.delete(locked, f"v{number}", by=by)
    with pytest.raises(BlobNotFound):
        bucket.stat(free.file.blob.key)


def test_an_orphan_that_is_retained_waits_and_the_sweep_goes_on(services, push):
    backend, content = services.backends.get("awss3v3"), BytesIO(b"orphan")
    services.backends.get("awss3v3").check()
    backend.store(KEY, content, 6)
    backend.retain(KEY, datetime.now(UTC) + DAY)
    plan = SweepPlan(storage="awss3v3", grace=timedelta(hours=1), most=9)
    assert sweep(services.database, services.backends, services.blobs, plan, by=None).orphans == 0
    assert 6 == backend.stat(KEY).size


@pytest.mark.costly
def test_a_bucket_that_cannot_keep_the_promise_is_named(s3_bucket, locked_bucket, lock_enabled):
    without = S3Storage(s3_bucket(object_lock="compliance"))
    with pytest.raises(StorageUnavailable, match="has no Object Lock"):
        without.check()
    assert ["problem"] == [one.level for one in examine(without) if "Object Lock" in one.message]
    S3Storage(locked_bucket(object_lock="governance")).check()
    assert [] == [one for one in examine(S3Storage(locked_bucket())) if "retention" in one.message]
    client = make_client(lock_enabled())
    client.create_bucket(Bucket="by-default", ObjectLockEnabledForBucket=True)
    rule = {"DefaultRetention": {"Mode": "COMPLIANCE", "Days": 1}}
    configuration = {"ObjectLockEnabled": "Enabled", "Rule": rule}
    client.put_object_lock_configuration(Bucket="by-default", ObjectLockConfiguration=configuration)
    with pytest.raises(StorageUnavailable, match="default retention"):
        S3Storage(locked_bucket(bucket="by-default")).check()
    found = examine(S3Storage(locked_bucket(bucket="by-default")))
    assert ["problem"] == [one.level for one in found if "default retention" in one.message]


def test_a_bucket_that_keeps_its_promise_refuses_whatever_would_break_it(bucket, thief):
    storage = S3Storage(bucket)
    storage.store(KEY, BytesIO(b"probe"), 5)
    storage.retain(KEY, datetime.now(UTC) + DAY)

    assert [] == storage.break_retention(KEY)

    with storage.open(KEY) as blob:  # the marker that hides it is removed, what was written over it is not
        assert b"overwritten" == blob.read()
    versions = thief.list_object_versions(Bucket="locked", Prefix=bucket.prefix + KEY)["Versions"]
    assert [5] == [entry["Size"] for entry in versions if not entry["IsLatest"]]


def test_a_store_that_forgets_retentions_is_found_out(locked_bucket, gateway):
    with forgetting_s3(gateway.endpoint) as endpoint:
        storage = S3Storage(locked_bucket(endpoint=endpoint))
        storage.store(KEY, BytesIO(b"probe"), 5)
        assert storage.retain(KEY, datetime.now(UTC) + DAY)

        broken = storage.break_retention(KEY)

    assert "let a retained version be deleted" in broken
    assert "let the retention of an object be shortened" in broken


def test_a_key_that_may_bypass_governance_is_found_out(locked_bucket):
    storage = S3Storage(locked_bucket(object_lock="governance"))
    storage.store(KEY, BytesIO(b"probe"), 5)
    storage.retain(KEY, datetime.now(UTC) + DAY)

    broken = storage.break_retention(KEY)

    assert ["let the retention of an object be shortened with a bypass of governance"] == broken[:1]


def test_the_server_names_itself(open_storage, bucket):
    assert "BaseHTTP/" in open_storage("honest").server()
    assert "" == S3Storage(bucket).server()  # Ceph does not
