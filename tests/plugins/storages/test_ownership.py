"""Two services on one bucket or FTP directory, a restored database, a replaced storage: nothing is lost."""

import contextlib
import sqlite3
from contextlib import closing
from datetime import timedelta
from io import BytesIO
from itertools import count

import pytest

from frepo_core.domain.naming import new_blob_key
from frepo_core.errors import StorageUnavailable
from frepo_core.features.doctor.data import check_storage
from frepo_core.services.content.storages.storage_watch import StorageWatch
from frepo_core.services.upkeep.storage import Ownership, StorageDisputedError, SweepPlan, find_marks, sweep
from support.ftp import needs_proftpd
from support.reliability.world import World
from support.servers.proftpd import PASSWORD, USER

NUMBERS = count()
ORPHAN = new_blob_key("ab" * 32)
MISSING = "the mark of this database is missing"


@pytest.fixture(params=["awss3v3", pytest.param("ftp", marks=needs_proftpd)])
def storage_ini(request):
    """The settings of a storage on a real server."""
    if request.param == "awss3v3":
        found = request.getfixturevalue("s3_settings")().model_dump()
        settings = {name: found[name] for name in ("bucket", "prefix", "endpoint", "region", "addressing_style")}
        settings |= {name: found[name].get_secret_value() for name in ("key", "secret")}
    else:
        port = str(request.getfixturevalue("plain_server").port)
        root = f"ownership-{next(NUMBERS)}/blobs"
        settings = {"host": "localhost", "port": port, "username": USER, "password": PASSWORD, "root": root}
    return {"fs.adapter": request.param} | {f"fs.{request.param}.{name}": value for name, value in settings.items()}


@pytest.fixture
def open_service(open_services, ini, storage_ini, tmp_path):
    """Open a service with a database of its own, or with a copy of that of another service."""
    opened = []

    def open_service(name, copy_of=None, **settings):
        (tmp_path / name).mkdir()
        services = open_services(tmp_path / name, ini | storage_ini | settings)
        if copy_of:
            with (
                closing(sqlite3.connect(copy_of.database.engine.url.database)) as source,
                closing(sqlite3.connect(tmp_path / name / "frepo.db")) as target,
            ):
                source.backup(target)
        opened.append(services)
        return services

    yield open_service
    for services in opened:
        services.database.engine.dispose()


def clean(services, **options):
    options |= {"storage": services.backends.current, "grace": timedelta(), "most": 100}
    return sweep(services.database, services.backends, services.blobs, SweepPlan(**options))


def storage_of(services):
    return services.backends.get(services.backends.current)


def test_two_services_on_one_storage_delete_nothing_until_one_adopts_it(open_service):
    first, second = open_service("first"), open_service("second")
    clean(first)
    storage_of(second).store(ORPHAN, BytesIO(b"of the second"), 13)
    Ownership(second.database, second.backends).claim(second.backends.current)

    for services in (first, second):
        with pytest.raises(StorageDisputedError, match="frepo storage:adopt"):
            clean(services)
    assert 13 == storage_of(first).stat(ORPHAN).size

    Ownership(first.database, first.backends).adopt(first.backends.current)

    assert (0, 1) == ((report := clean(first)).orphans, report.kept), "another database may have needed it"
    assert 1 == clean(first, deletes_unknown=True).orphans
    with pytest.raises(StorageDisputedError):
        clean(second)


def test_the_job_leaves_the_blobs_of_a_neighbour_without_a_mark(open_service):
    first, second = open_service("first"), open_service("second")
    storage_of(second).store(ORPHAN, BytesIO(b"of the second"), 13)

    reports = [clean(first, leaves_older=True) for _ in range(2)]

    assert [(0, 1), (0, 1)] == [(report.orphans, report.left) for report in reports]
    assert 13 == storage_of(second).stat(ORPHAN).size
    assert 1 == clean(first).orphans  # the operator decided


def test_a_restored_database_deletes_nothing(open_service):
    today = open_service("today")
    clean(today)
    restored = open_service("restored", copy_of=today)
    clean(today)
    storage_of(today).store(ORPHAN, BytesIO(b"of this week"), 12)

    with pytest.raises(StorageDisputedError, match="restored from an old backup"):
        clean(restored)

    assert 12 == storage_of(today).stat(ORPHAN).size
    assert [2] == [mark.epoch for mark in find_marks(storage_of(today))]


@contextlib.contextmanager
def emptied(services):
    """Empty the storage, and put everything back afterwards, unless something was stored meanwhile."""
    storage, kept = storage_of(services), {}
    for key in [stat.key for stat in storage.list()]:
        with storage.open(key) as content:
            kept[key] = content.read()
        storage.delete(key)
    yield
    assert [] == list(storage.list())
    for key, content in kept.items():
        storage.store(key, BytesIO(content), len(content))


def assert_refuses(services, world, collection):
    """Check that nothing is stored and nothing evicted, and that all who look say why."""
    StorageWatch(services.database, services.backends, services.presence, services.storage_states).look()
    with pytest.raises(StorageUnavailable, match=MISSING):
        world.push(collection, b"two")
    with pytest.raises(StorageUnavailable, match=MISSING):
        world.verify()
    health = services.health.run
    said = [*health()["storage"], *(finding.message for finding in check_storage(services, health))]

    assert all(MISSING in text for text in (said[0], " ".join(said[1:])))
    assert [1] == world.numbers(collection)


def test_an_emptied_storage_gets_nothing_and_all_works_when_it_is_back(open_service):
    services = open_service("first")
    Ownership(services.database, services.backends).claim(services.backends.current)
    world = World(services)
    collection = world.collection(1)
    world.push(collection, b"one")

    with emptied(services):
        assert_refuses(services, world, collection)
    world.push(collection, b"two")

    assert (1, []) == (len(find_marks(storage_of(services))), world.verify().damaged)
    assert () == services.health.run()["storage"]
    world.check()


def test_another_bucket_or_folder_in_its_place_gets_nothing(open_service, storage_ini):
    services = open_service("first")
    Ownership(services.database, services.backends).claim(services.backends.current)
    world = World(services)
    collection = world.collection(1)
    world.push(collection, b"one")
    [place] = [name for name in storage_ini if name.endswith((".prefix", ".root"))]

    other = open_service("other", copy_of=services, **{place: f"{storage_ini[place]}-other"})
    assert_refuses(other, World(other), collection)

    assert [] == list(storage_of(other).list())
