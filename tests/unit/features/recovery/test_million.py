"""A catalogue of a million versions: written and recovered in bounded memory and time, without reading a content."""

import hashlib
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import func, insert, select

from frepo_core import assemble
from frepo_core.db import migrations
from frepo_core.db.models import Collection, Content, File, StoredObject, Version
from frepo_core.domain.identity import derived_uuid4
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.features.recovery.journal.objects import table_of
from frepo_core.plugins import BlobStat, StorageBackend
from support.scale import IS_BIG

COLLECTIONS, EACH = (1000, 1000) if IS_BIG else (20, 100)
SECONDS, MEMORY = 600, 200 << 20
AT = datetime(2026, 5, 1, tzinfo=UTC)


def digest_of(number):
    return hashlib.sha256(b"%d" % number).hexdigest()


def key_of(number):
    digest = digest_of(number)
    return f"{digest[:2]}/{digest}-{number:016x}"


class ListsAMillion(StorageBackend):
    """A storage that has the journal and the catalogues, and lists contents that nobody reads."""

    def __init__(self, backend):
        self._backend = backend
        for name in ("store", "stat", "delete", "path", "open"):
            setattr(self, name, getattr(backend, name))

    store = open = delete = stat = StorageBackend.path

    def list(self):
        yield from self._backend.list()
        for number in range(COLLECTIONS * EACH):
            yield BlobStat(key=key_of(number), size=1000, modified=AT)


class Watch:
    """Measures the processor time, and by how many bytes the memory of this process grew at most."""

    def __enter__(self):
        self._ended = threading.Event()
        self._before, self.most = resident(), 0
        self._began = time.process_time()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self._began
        self._ended.set()
        self._thread.join()
        print(f"{self.seconds:.1f} s of processor time, {self.most >> 20} MiB")

    def _look(self):
        while not self._ended.wait(0.02):
            self.most = max(self.most, resident() - self._before)


def resident():
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmRSS")]
    return int(line.split()[1]) << 10


def fill(services, collection):
    """Insert the collections and versions as rows: through the use cases it would take a day."""
    with services.database.reading() as session:
        row = dict(session.execute(select(table_of(Collection)).where(Collection.id == collection)).one()._mapping)

    def work(session, place):
        ids = [derived_uuid4(str(place)), range(place * EACH, (place + 1) * EACH)]
        session.execute(insert(table_of(Collection)), [row | {"id": ids[0], "versions_count": EACH}])
        content = {"size": 1000, "mime": "text/plain", "created_at": AT, "checksum": "ab" * 16}
        session.execute(
            insert(table_of(Content)), [content | {"id": one + 1, "digest": digest_of(one)} for one in ids[1]]
        )
        place = {"storage": "local", "size": 1000, "state": "present", "slot": 1, "since": AT, "stored_at": AT}
        session.execute(
            insert(table_of(StoredObject)),
            [place | {"content_id": one + 1, "digest": digest_of(one), "key": key_of(one)} for one in ids[1]],
        )
        file = {"public": False, "created_at": AT, "kind": "version", "mime": "text/plain"}
        session.execute(
            insert(table_of(File)),
            [
                file | {"id": one + 1, "content_id": one + 1, "stored_name": f"{one}.sql", "requested_name": "db.sql"}
                for one in ids[1]
            ],
        )
        session.execute(
            insert(table_of(Version)),
            [
                {"id": f"v{one:035d}", "collection_id": ids[0], "number": one + 1, "file_id": one + 1, "created_at": AT}
                for one in ids[1]
            ],
        )

    for place in range(COLLECTIONS):
        services.database.write(lambda session, place=place: work(session, place))


@pytest.mark.costly
@pytest.mark.slow
def test_a_catalogue_of_a_million_versions_needs_little_memory_and_time(
    services, storages, make_collection, ini, plugins, tmp_path
):
    services.feature(RecoveryServices).journal.write_catalogue()  # the storage is marked before it has contents
    fill(services, make_collection(9))
    storages._built["local"] = ListsAMillion(storages.get("local"))
    with Watch() as writing:
        services.feature(RecoveryServices).journal.write_catalogue()
    recovered = assemble(ini | {"database.url": f"sqlite:///{tmp_path}/recovered.db"}, {}, plugins)
    migrations.upgrade(recovered.database.engine)
    recovered.backends._built["local"] = ListsAMillion(recovered.backends.get("local"))

    with Watch() as reading, recovered.feature(RecoveryServices).recovery("local", lambda text: None) as recovery:
        report = recovery.run(recovery.find(), with_tokens=True)

    with recovered.database.reading() as session:
        found = session.scalar(select(func.count()).select_from(Version))
    recovered.database.engine.dispose()
    assert (COLLECTIONS * EACH, 0) == (found, report.missing)
    for watch in (writing, reading):
        assert watch.most < MEMORY
        assert watch.seconds < SECONDS
