"""Random histories: no good dump is lost, and no second copy before its time, whatever is combined with what."""

import hashlib
from datetime import timedelta

import pytest
from sqlalchemy import select

from frepo_core.db.models import StoredObject
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.services.backups.rows.collection_change import CollectionChange
from support.histories.random_history import RandomHistory
from support.scale import IS_BIG

HISTORIES, STEPS = (60, 60) if IS_BIG else (1, 30)
DELAY = timedelta(days=7)


@pytest.fixture
def ini(ini, tmp_path):
    archive = {"storage.archive.adapter": "local", "storage.archive.directory": str(tmp_path / "archive")}
    keep = {"mirror.delete_delay": "7d", "trash.keep": "3d", "storages": "second archive"}
    return ini | archive | keep


class History(RandomHistory):
    """A history of two collections with small contents."""

    def __init__(self, services, sender, make_collection, push, run, folders, seed):
        super().__init__(services, sender, run, folders, seed)
        self.push_to = push
        self.collections = [make_collection(3), make_collection(3)]
        self.gone_at, self.copied = {}, set()

    def push(self):
        again = self.contents and self.draw.random() < 0.3
        content = self.draw.choice(sorted(self.contents.values())) if again else self.draw.randbytes(300)
        self.contents[hashlib.sha256(content).hexdigest()] = content
        self.push_to(self.draw.choice(self.collections), content)

    def lock(self):
        change = CollectionChange(limits={}, locked=timedelta(days=self.draw.randint(1, 3)))
        self.services.collections.edit(self.collections[0], change, by=self.by)

    def merge(self):
        """Read back what was deleted some days ago, as trash."""
        at = self.now - timedelta(days=self.draw.randint(0, 6))
        with self.services.feature(RecoveryServices).merge(
            self.draw.choice(["second", "local"]), lambda text: None, at=at
        ) as merging:
            merging.run(merging.find(), by=None)

    def stored(self):
        """Return the digests of the contents that have their right bytes in at least one storage."""
        return {
            path.name.partition("-")[0]
            for folder in self.folders
            for path in folder.glob("??/*")
            if path.read_bytes() == self.contents.get(path.name.partition("-")[0])
        }

    def check(self):
        """What is listed or in the trash is in a storage, and what had a copy stays there until its delay is over."""
        used, stored = self.used(), self.stored()
        assert used <= stored, " ".join(self.log)
        for digest in used:
            self.gone_at.pop(digest, None)
        for digest in self.copied - used:
            self.gone_at.setdefault(digest, self.now)
        early = {digest for digest, at in self.gone_at.items() if self.now - at < DELAY} - stored
        assert not early, self.log
        with self.services.database.reading() as session:
            present = select(StoredObject.digest).where(
                StoredObject.state == "present", StoredObject.content_id.is_not(None)
            )
            self.copied = used & set(session.scalars(present))


STEPS_OF_A_HISTORY = [
    *("push",) * 4,
    *("work",) * 6,
    *("wait",) * 3,
    *("delete", "delete", "restore", "end", "pin", "lock", "move", "promote", "merge", "damage"),
]


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_no_history_loses_a_dump_or_a_second_copy(
    services, sender, make_collection, push, run, tmp_path, monkeypatch, seed
):
    folders = [tmp_path / name for name in ("storage", "second", "archive")]
    history = History(services, sender, make_collection, push, run, folders, seed)
    history.begin(monkeypatch)

    for _ in range(STEPS):
        history.step(STEPS_OF_A_HISTORY)
        history.check()
    history.settle()
    history.settle()

    for lost in folders:
        lost.rename(tmp_path / "away")
        assert history.used() <= history.stored(), (lost, history.log)
        (tmp_path / "away").rename(lost)
    assert {name for name, _ in history.tried} >= {"push", "work", "wait"}
