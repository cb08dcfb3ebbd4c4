"""A collection of a group moves into another storage: what it was needed for leaves the former one."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.features.compact.encoder.choice import Choice
from frepo_core.features.compact.encoder_process import EncoderProcess
from frepo_core.features.moves.feature import MoveServices
from frepo_core.services.backups.rows.collection_change import CollectionChange

GROUP = {"compact_group": "hosts"}


@pytest.fixture
def ini(ini, tmp_path):
    second = {"storage.second.adapter": "local", "storage.second.directory": str(tmp_path / "second")}
    return ini | second | {"storages": "second", "compact.newest": "shared"}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    """Encode in this process, which is faster."""
    monkeypatch.setattr(EncoderProcess, "encode", lambda self, task, keep_going: Choice().choose(task, lambda: None))


def test_what_moved_leaves_the_former_storage_when_others_have_another_base(history):
    one, two = history.make(**GROUP), history.make(**GROUP)
    for _ in range(3):
        for name in (one, two):
            history.push(name, hours=1)
        history.time += timedelta(days=1)
        history.job()
    rows = {name: list(history.rows(name).values()) for name in (one, two)}
    digests = {name: {row.digest for row in rows[name]} for name in (one, two)}
    [moved] = [
        name for name, other in ((one, two), (two, one)) if digests[name] & {row.base_digest for row in rows[other]}
    ]

    history.services.collections.edit(moved, CollectionChange(limits={}, storage="second"), by=history.by)
    history.services.feature(MoveServices).collections.request(moved)
    history.job("migrate", hours=9)
    for hours in (10, 11, 12):
        history.job(hours=hours)

    with history.services.database.reading() as session:
        current = select(StoredObject).where(StoredObject.slot == 1, StoredObject.digest.in_(digests[moved]))
        assert ["second"] * 3 == [row.storage for row in session.scalars(current)]
    for days in (4, 5, 6):
        history.job(days=days)
    keys = [stat.key for stat in history.services.backends.get("local").list()]
    assert [] == [key for key in keys if any(digest in key for digest in digests[moved])]
    for name in (one, two):
        assert list(history.contents[name].values()) == [history.read(row) for row in history.rows(name).values()]
