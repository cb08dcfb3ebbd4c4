"""A machine that clients, jobs, kills, fires and an operator with backups of the database meet at random.

The storages are folders, or on servers. What is killed is a process: a fork that does the step, at one of the named
points.
"""

import hashlib
import logging
import os
import signal
from contextlib import suppress
from datetime import timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from frepo_core.db.models import Content, File, TrashEntry, Version
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.errors import FrepoError
from frepo_core.features.compact.encoder_process import EncoderProcess
from frepo_core.features.compact.feature import CompactServices
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.plugins import JobContext
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.base import failpoints
from frepo_core.services.composition.builtin_jobs import upkeep_jobs
from frepo_core.services.composition.facade.plugin_service import PluginService
from frepo_core.services.content.ingest import Incoming
from frepo_core.services.content.objects.places import find_places
from frepo_core.services.content.storages.sweep_guard import Ownership
from model.real.databases import Kept
from support.encodings.nights import nights
from support.histories.random_history import RandomHistory
from support.histories.stored_bytes import FolderBytes, ServerBytes

STORAGES = ("local", "second", "archive")
POINTS = (
    *(*failpoints.POINTS, *failpoints.SWEEP_POINTS, *failpoints.PROMOTION_POINTS),
    *(*failpoints.MIRROR_POINTS, *failpoints.JOURNAL_POINTS, *failpoints.COMPACT_POINTS),
)
LETHAL = ("push", "push", "delete", "work", "work", "work", "compact", "move", "promote")
CONTENTS = {hashlib.sha256(one).hexdigest(): one for one in nights(10, 300)}
# No backup of the database is older: what was superseded before it may be gone.
LONGEST = timedelta(hours=40)


class Machine(RandomHistory):
    """Steps that `RandomHistory` draws, and what they must keep."""

    def __init__(self, database: Kept, folders: dict[str, Path], seed: int) -> None:
        """`folders` are those of the storages. One that has none is on a server."""
        self._database = database
        self._backed_up_at: Any = None
        self._said, self._written = set[str](), set[str]()
        services = database.open()
        token = services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id
        self._token = token
        super().__init__(services, self._identify(services), self._run, list(folders.values()), seed)
        self.storages = (self.first, *STORAGES[1:])
        self.bytes = [
            FolderBytes(folders[name]) if name in folders else ServerBytes(partial(self._storage, name))
            for name in self.storages
        ]
        self.contents = CONTENTS
        for _ in range(2):
            change = CollectionChange(limits={COUNT: 30}, filename="dump.sql")
            self.collections.append(services.collections.create(change, by=self.by).id)

    def live(self, monkeypatch: pytest.MonkeyPatch, steps: tuple[str, ...], length: int) -> None:
        """Do some of the steps, and look at everything after each."""
        try:
            self.begin(monkeypatch)
            for _ in range(length):
                self.step(steps)
                self.check()
            self.settle()
            self.check()
        finally:
            self.close()

    def push(self) -> None:
        content = self.draw.choice(list(CONTENTS.values()))
        facts = self.services.collections.get(self.draw.choice(self.collections))
        self.services.add_version.add(facts, Incoming(stream=BytesIO(content)), by=self.by)

    def lock(self) -> None:
        """Lock the versions of a collection for some time, or for longer."""
        change = CollectionChange(limits={}, locked=timedelta(days=self.draw.randint(1, 3)))
        self.services.collections.edit(self.collections[0], change, by=self.by)

    def wait(self) -> None:
        """Write the journal, and let some hours pass."""
        self._write_journal()
        super().wait()

    def compact(self) -> None:
        """Encode, at whatever hour."""
        report = self.services.feature(CompactServices).compaction.run(keep_going=lambda: None)
        self.tried["contents", "encoded"] += int(report.summary().get("encoded", 0))

    def kill_encoder(self) -> None:
        """Encode, while the process that does it is killed each time it has started."""
        started = EncoderProcess._started

        def start_and_kill(process: Any) -> Any:
            found = started(process)
            found.kill()
            return found

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(EncoderProcess, "_started", start_and_kill)
            self.compact()

    def die(self) -> None:
        """Let a process do a step, and kill it at a point."""
        what, point = self.draw.choice(LETHAL), self.draw.choice(POINTS)
        self.log.append(f"({what}, killed at {point})")
        seed = self.draw.random()
        child = os.fork()
        if not child:
            try:
                self.services.database.engine.dispose(close=False)
                self._inherited = self.services.backends._built.copy()  # and their connections, which are the parent's
                self.services.backends._built.clear()
                failpoints._armed = point
                self.draw.seed(seed)
                with suppress(FrepoError):
                    getattr(self, what)()
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            self.tried[what, "killed"] += 1

    def back_up(self) -> None:
        """Back up the database, as each night."""
        self._database.back_up()
        self._backed_up_at = self.now

    def restore_database(self) -> None:
        """Restore the backup, and read back from each storage what was lost.

        What was deleted for good since then is named again, and its bytes are gone: that is said.
        """
        if self._backed_up_at is None or self.now - self._backed_up_at > LONGEST:
            raise FrepoError("there is no backup of the last night")
        self._write_journal()
        known, reports = self.used(), []
        self._restart(restored=True)
        self._backed_up_at = None
        for name in self.storages:
            with suppress(FrepoError):
                Ownership(self.services.database, self.services.backends).adopt(name, keeps_unknown=True)
        for name in self.storages:
            with suppress(FrepoError), self.services.feature(RecoveryServices).merge(name, lambda text: None) as merge:
                reports.append(merge.run(merge.find(), by=None))
        assert known <= self.used(), ("not merged", self.log)
        digests = self._digests()
        self._note_said({digests[key] for report in reports for key in report.missing if key in digests}, known)

    def lose_database(self) -> None:
        """Lose the database, and recover it from one of the storages, whose journal may lack the last part.

        What was deleted since then comes back; its bytes may be gone, and then that is said.
        """
        if self.draw.random() < 0.5:
            self._write_journal()
        known, written = self.used(), self._written
        self._restart()
        self._backed_up_at = None
        name = self.draw.choice(self.storages[:2])
        with self.services.feature(RecoveryServices).recovery(name, lambda text: None) as recovery:
            recovery.run(recovery.find(), with_tokens=True)
            said = {one.digest for one in recovery.missing()}
        self.by = self._identify(self.services)
        assert written <= self.used(), ("not recovered", name, written - self.used(), self.log)
        self._note_said(said, known)
        self._written = self.used()

    def burn(self) -> None:
        """Empty a storage that is not the only one with something, and let the service make everything again."""
        self.settle()
        name = self.draw.choice(self.storages)
        take_back = self.bytes[self.storages.index(name)].burn()
        if not self.used() <= self.readable() | self._said:
            take_back()
            raise FrepoError("not everything has a copy")
        Ownership(self.services.database, self.services.backends).adopt(name)
        self.settle()
        self.run("catalogue")

    def readable(self) -> set[str]:
        """Return the digests of what is read, from whichever object."""
        return {digest for digest in CONTENTS if self._is_readable(digest)}

    def check(self) -> None:
        """What is listed, or in the trash, is read, unless the last recovery has said that it is missing."""
        lost = self.used() - self.readable() - self._said
        assert not lost, (lost, self.log)
        self._written &= self.used()  # what ended since then may be in the journal, and may not

    def _note_said(self, said: set[str], known: set[str]) -> None:
        """Note what is said to be missing: what cannot be read, and nothing of what was known before.

        Of what was deleted, bytes may be left that a test has damaged, and that nobody has read since.
        """
        lost = self.used() - self.readable()
        assert said <= lost <= said | self.damaged, ("said", said, lost, self.log)
        assert not lost & known - self._said, ("missing", lost & known, self.log)
        self._said = lost

    def _digests(self) -> dict[tuple[str, int], str]:
        """Return the digests of the versions, also of those in the trash, by collection and number."""
        with self.services.database.reading() as session:
            trash = session.execute(select(TrashEntry.collection_id, TrashEntry.number, TrashEntry.digest)).all()
            versions = session.execute(
                select(Version.collection_id, Version.number, Content.digest).join(Version.file).join(File.blob)
            ).all()
        return {(one, number): digest for one, number, digest in (*trash, *versions)}

    def close(self) -> None:
        self.services.database.engine.dispose()

    def _storage(self, name: str) -> Any:
        return self.services.backends.get(name)

    def _write_journal(self) -> None:
        """Write the journal, and the catalogue for which that asks."""
        if self.run("journal")["needing"]:
            self.run("catalogue")
        self._written = self.used()

    def _restart(self, *, restored: bool = False) -> None:
        self.services = self._database.restart(self.services, restored=restored)
        self.services.object_reads.notes._start = lambda work: work()

    def _identify(self, services: Any) -> Any:
        return services.tokens.identify(self._token, address="127.0.0.1", user_agent="")

    def _run(self, name: str) -> Any:
        jobs = {job.name: job for job in upkeep_jobs(self.services)}
        context = JobContext(
            settings=None,
            service=PluginService(),
            log=logging.getLogger(__name__),
            now=self.now,
            check_lease=lambda: None,
            progress=lambda text: None,
        )
        return jobs[name].run(context)

    def _is_readable(self, digest: str) -> bool:
        with self.services.database.reading() as session:
            places = list(find_places(session, digest, self.services.backends.current))
        for place in places:
            with (
                suppress(FrepoError, ValueError, OSError),
                self.services.chain_reader.open(place, is_verified=True) as stream,
            ):
                if stream.read() == CONTENTS[digest]:
                    return True
        return False


STEPS = (
    *("push",) * 4,
    *("work",) * 4,
    *("compact",) * 2,
    *("wait",) * 3,
    *("die",) * 4,
    *("delete", "restore", "end", "pin", "lock", "move", "promote", "damage", "burn", "kill_encoder"),
)
STEPS_OF_DATABASES = ("back_up", "restore_database", "lose_database")
