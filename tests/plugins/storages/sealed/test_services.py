"""A sealed first storage on a real server, with a sealed second copy: damage, loss, verification, recovery."""

import logging
import os
from io import BytesIO

import pytest
from sqlalchemy import select, update

from frepo_core import assemble
from frepo_core.db import migrations, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.roles import Role
from frepo_core.errors import BlobDamaged
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.plugins import JobContext
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.composition.facade.plugin_service import PluginService
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.files.files import NewFile
from frepo_core.services.upkeep.storage import verify
from support.ftp import PASSWORD, USER, needs_proftpd
from support.scale import first_of
from support.servers.ceph import NOT_INSTALLED, missing_programs

S3 = pytest.param("awss3v3", marks=pytest.mark.skipif(bool(missing_programs()), reason=NOT_INSTALLED))
FTP = pytest.param("ftp", marks=needs_proftpd)
CONTENTS = [b"INSERT INTO patients VALUES (1, 'Ada');\n" * 20_000, b"small", os.urandom(700_000)]


@pytest.fixture
def below(request):
    return request.param


@pytest.fixture
def ini(request, ini, below, tmp_path):
    """A sealed storage on the server, and a mirror that is sealed over a folder with another key."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.keys").write_text(f"{os.urandom(32).hex()}\n")
    if below == "ftp":
        port = request.getfixturevalue("plain_server").port
        server = {"host": "127.0.0.1", "port": port, "username": USER, "password": PASSWORD, "root": tmp_path.name}
    else:
        settings = request.getfixturevalue("s3_settings")()
        names = ("bucket", "prefix", "endpoint", "region", "addressing_style")
        server = {name: getattr(settings, name) for name in names}
        server |= {name: getattr(settings, name).get_secret_value() for name in ("key", "secret")}
    ini = {name: value for name, value in ini.items() if not name.startswith("fs.local.")}
    ini |= {f"fs.{below}.{name}": str(value) for name, value in server.items()}
    return ini | {
        "fs.adapter": "sealed",
        "fs.sealed.over": below,
        "fs.sealed.key_file": str(tmp_path / "first.keys"),
        "storages": "vault offsite",
        "storage.offsite.adapter": "local",
        "storage.offsite.directory": str(tmp_path / "offsite"),
        "storage.vault.adapter": "sealed",
        "storage.vault.over": "offsite",
        "storage.vault.key_file": str(tmp_path / "second.keys"),
        "mirror": "vault",
        "mirror.rate": "0",
        "fs.cache_size": "0",
    }


@pytest.fixture
def run(services):
    def run(name):
        service, log = PluginService(), logging.getLogger(__name__)
        context = JobContext(
            settings=None,
            service=service,
            log=log,
            now=utc_now(),
            check_lease=lambda: None,
            progress=lambda text: None,
        )
        services.database.execute(update(StoredObject).where(StoredObject.state != "gone").values(next_try=utc_now()))
        return next(job for job in upkeep_jobs(services) if job.name == name).run(context)

    return run


def read(services, file):
    with services.stored_content.open(services.files.find(file.stored_name).blob) as content:
        return b"".join(iter(lambda: content.read(100_000), b""))


@pytest.mark.parametrize("below", first_of([FTP, S3]), indirect=True)
def test_two_sealed_copies_repair_each_other_and_a_lost_database(
    services, make_token, run, below, ini, plugins, tmp_path
):
    services.object_reads.notes._start = lambda work: work()
    by = services.tokens.look_up(make_token(Role.ADMINISTRATOR))
    files = [
        services.files.add(NewFile(name="a.sql"), Incoming(stream=BytesIO(content)), by=by).file for content in CONTENTS
    ]
    assert len(files) == run("mirror")["copied"]

    # Whoever has the servers sees neither contents nor digests.
    server, folder = services.backends.get("sealed")._below, services.backends.get("offsite")
    for stat, storage in [*((stat, server) for stat in server.list()), *((stat, folder) for stat in folder.list())]:
        with storage.open(stat.key) as stored:
            data = stored.read()
        assert data.startswith(b"frepo sealed 1\n")
        assert not any(content[:30] in data for content in CONTENTS if len(content) > 30)
        assert not any(file.blob.digest[:12] in stat.key for file in files)

    # One object has a wrong bit, one was exchanged for another one, one is gone.
    keys = services.backends.get("sealed")._keys.first
    names = [keys.name(file.blob.key) for file in files]
    objects = []
    for name in names:
        with server.open(name) as stored:
            objects.append(stored.read())
        server.delete(name)
    wrong = objects[0][:-5] + bytes([objects[0][-5] ^ 1]) + objects[0][-4:]
    server.store(names[0], BytesIO(wrong), len(wrong))
    server.store(names[1], BytesIO(objects[2]), len(objects[2]))
    assert CONTENTS[0] == read(services, files[0])
    damaged = {damage.key: damage for damage in verify(services.database, services.backends).damaged}
    assert damaged.keys() == {file.blob.key for file in files}
    assert all(damage.is_marked for damage in damaged.values())
    with pytest.raises(BlobDamaged), services.backends.get("sealed").open(files[1].blob.key) as exchanged:
        exchanged.read()
    assert CONTENTS == [read(services, file) for file in files]
    assert len(files) == run("mirror")["repaired"]
    assert [] == verify(services.database, services.backends).damaged

    # The machine is lost with its database.
    run("catalogue")
    recovered = assemble(ini | {"database.url": f"sqlite:///{tmp_path}/recovered.db"}, {}, plugins)
    migrations.upgrade(recovered.database.engine)
    with recovered.feature(RecoveryServices).recovery("sealed", lambda text: None) as recovery:
        report = recovery.run(recovery.find(), with_tokens=True)
    assert 0 == report.missing
    assert CONTENTS == [read(recovered, file) for file in files]
    with recovered.database.reading() as session:
        assert {"sealed", "vault"} == set(session.scalars(select(StoredObject.storage)))
    recovered.database.engine.dispose()
