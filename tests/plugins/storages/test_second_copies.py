"""Second copies over real servers: made, read when the first is gone, repaired, checked, and deleted."""

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core import assemble
from frepo_core.db import migrations, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.plugins import JobContext
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.composition.facade.plugin_service import PluginService
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.storage import OwnerMark, Ownership, verify_copies
from support.reliability.invariants import eventually
from support.scale import only_in_long_form

CONTENTS = [b"small", os.urandom(7 << 20), *(os.urandom(1000 + number) for number in range(6))]
PAIRS = [("local", "awss3v3"), ("awss3v3", "local"), ("local", "ftp")]


@pytest.fixture(params=PAIRS, ids="-".join)
def ini(request, ini, settings_of):
    """Settings with the first storage of a pair, and the second one as its mirror."""
    first, second = request.param
    ini = {name: value for name, value in ini.items() if not name.startswith("fs.local.")}
    ini |= {f"fs.{first}.{name}": str(value) for name, value in settings_of(first).items()}
    ini |= {f"storage.second.{name}": str(value) for name, value in settings_of(second).items()}
    named = {"fs.adapter": first, "storages": "second", "storage.second.adapter": second}
    return ini | named | {"mirror": "second", "mirror.rate": "0", "mirror.delete_delay": "0s", "fs.cache_size": "0"}


@pytest.fixture
def run(services):
    def run(name):
        context = JobContext(
            settings=None,
            service=PluginService(),
            log=logging.getLogger(__name__),
            now=utc_now(),
            check_lease=lambda: None,
            progress=lambda text: None,
        )
        services.database.execute(update(StoredObject).where(StoredObject.state != "gone").values(next_try=utc_now()))
        return next(job for job in upkeep_jobs(services) if job.name == name).run(context)

    return run


@pytest.fixture
def add(services, make_token):
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))

    def add(content):
        return services.files.add(NewFile(name="a.txt"), Incoming(stream=BytesIO(content)), by=by).file

    add.by = by
    return add


def rows(services, model):
    with services.database.reading() as session:
        return session.scalars(select(model).order_by(model.id)).all()


def read(services, file):
    with services.stored_content.open(services.files.find(file.stored_name).blob) as content:
        return b"".join(iter(lambda: content.read(100_000), b""))


def replace(backend, row):
    """Let the storage have other bytes of the same length."""
    backend.delete(row.key)
    backend.store(row.key, BytesIO(b"x" * row.size), row.size)


@only_in_long_form
@pytest.mark.databases
def test_contents_survive_the_loss_of_either_side(services, add, run):
    services.object_reads.notes._start = lambda work: work()
    first, second = services.backends.get(services.backends.current), services.backends.get("second")
    files = [add(content) for content in CONTENTS]
    assert len(files) == run("mirror")["copied"]

    # The first storage lacks one content and has wrong bytes of another.
    first.delete(files[1].blob.key)
    replace(first, rows(services, StoredObject)[2])
    assert CONTENTS[1] == read(services, files[1])
    with pytest.raises(FrepoError):
        read(services, files[2])
    assert CONTENTS[2] == read(services, files[2])
    assert 2 == run("mirror")["repaired"]
    assert CONTENTS == [read(services, file) for file in files]

    # So does the second one.
    missing, wrong, *_ = rows(services, StoredObject)
    second.delete(missing.key)
    replace(second, wrong)
    assert {missing.key, wrong.key} == {
        damage.key for damage in verify_copies(services.database, services.backends, services.copies.storages()).damaged
    }
    assert 2 == run("mirror")["copied"]
    assert [] == verify_copies(services.database, services.backends, services.copies.storages()).damaged

    services.files.delete(files[0].stored_name, "", by=add.by)
    assert 1 == run("mirror")["deleted"]
    kept = {row.key for row in rows(services, StoredObject) if row.state == "present"}
    assert kept == {stat.key for stat in second.list() if OwnerMark.parse(stat.key) is None}
    assert len(files) - 1 == len(kept)


@only_in_long_form
@pytest.mark.databases
def test_the_second_side_takes_the_place_of_a_lost_first_one(services, add, run):
    services.object_reads.notes._start = lambda work: work()
    lost = services.backends.current
    files = [add(content) for content in CONTENTS]
    run("mirror")
    empty(services.backends.get(lost))

    services.feature(SecondCopyServices).promotions.promote(
        services.feature(SecondCopyServices).promotions.plan("second")
    )
    assert "second" == add(b"new").blob.storage
    assert CONTENTS == [read(services, file) for file in files]

    Ownership(services.database, services.backends).adopt(lost)
    assert len(files) == services.feature(SecondCopyServices).mirror.find_missing(lost, keep_going=lambda: None)
    assert len(files) + 1 == services.feature(SecondCopyServices).mirror.resilver(lost, keep_going=lambda: None).copied
    empty(services.backends.get("second"))
    assert CONTENTS == [read(services, file) for file in files]


@only_in_long_form
@pytest.mark.databases
def test_a_promotion_under_load_loses_nothing(services, add, run):
    services.object_reads.notes._start = lambda work: work()
    former, stored, stop = services.backends.current, [], threading.Event()

    def load():
        while not stop.is_set():
            content = os.urandom(5000)
            stored.append((content, add(content)))

    with ThreadPoolExecutor(2) as pool:
        loads = [pool.submit(load) for _ in range(2)]
        assert eventually(lambda: len(stored) > 10)
        run("mirror")
        services.feature(SecondCopyServices).promotions.promote(
            services.feature(SecondCopyServices).promotions.plan("second")
        )
        reached = len(stored)
        assert eventually(lambda: len(stored) > reached + 10)
        stop.set()
        assert [None, None] == [each.result(60) for each in loads]
    run("mirror")  # what had no copy when the storage was promoted
    services.feature(SecondCopyServices).mirror.resilver(former, keep_going=lambda: None)

    def read_all():
        return [read(services, file) for _, file in stored]

    contents = [content for content, _ in stored]
    empty(services.backends.get(former))
    assert contents == read_all()
    Ownership(services.database, services.backends).adopt(former)
    services.feature(SecondCopyServices).mirror.find_missing(former, keep_going=lambda: None)
    services.feature(SecondCopyServices).mirror.resilver(former, keep_going=lambda: None)
    empty(services.backends.get("second"))
    assert contents == read_all()


@only_in_long_form
@pytest.mark.databases
def test_a_burnt_machine_is_recovered_from_the_second_side(services, add, run, ini, plugins, tmp_path):
    files = [add(content) for content in CONTENTS[:3]]
    run("catalogue")
    files += [add(content) for content in CONTENTS[3:]]
    run("mirror")
    run("journal")
    empty(services.backends.get(services.backends.current))

    recovered = assemble(ini | {"database.url": f"sqlite:///{tmp_path}/recovered.db"}, {}, plugins)
    migrations.upgrade(recovered.database.engine)
    recovered.object_reads.notes._start = lambda work: work()
    with recovered.feature(RecoveryServices).recovery("second", lambda text: None) as recovery:
        report = recovery.run(recovery.find(), with_tokens=True)

    assert (0, CONTENTS) == (report.missing, [read(recovered, file) for file in files])
    recovered.database.engine.dispose()


def empty(backend):
    """Delete everything, marks included."""
    for stat in list(backend.list()):
        backend.delete(stat.key)
