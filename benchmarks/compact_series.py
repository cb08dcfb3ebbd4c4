"""Stores series of nights in a service with the job `compact`, and with restic and borg, in one run."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import select

from frepo_core import assemble
from frepo_core.db import make_engine, migrations
from frepo_core.db.models import StoredObject
from frepo_core.db.types import simulated_time
from frepo_core.domain.limits import COUNT
from frepo_core.domain.roles import Role
from frepo_core.features.compact.feature import CompactServices
from frepo_core.plugins.registry import PluginRegistry
from frepo_core.services.access.tokens import NewToken
from frepo_core.services.backups.rows.collection_change import CollectionChange
from frepo_core.services.composition.container import Services
from frepo_core.services.content.ingest import Incoming

from .harness.measure import Results, compare

START = datetime(2028, 1, 1, 2, tzinfo=UTC)
MB = 1_000_000
PIECE = 1 << 20
# The bytes of our series as a share of those of the others. What is compressed by its sender has no reach.
REACHES = {"plain": 0.5, "maria": 0.5, "tar": 1.0, "alternating": 0.5, "foreign": 0.5, "cut": 0.5, "interleaved": 0.5}
RATIOS = {"plain": 1 / 25, "maria": 1 / 30}


def run(results: Results, folder: Path) -> None:
    """Store each series in the folder with each program; add the rows and what the charts show."""
    results.series = []
    for path in sorted(folder.iterdir()):
        nights = sorted(path.iterdir())
        with tempfile.TemporaryDirectory() as place:
            found = {"compact": _Compact(Path(place, "compact")).measure(nights)}
            if path.name.startswith("fleet"):
                found["compact, shared"] = _Compact(Path(place, "shared"), newest="shared").measure(nights)
            if path.name in {"interleaved", "mongodump"}:  # of each difference, the base stays whole: it has windows
                found["compact, depth 1"] = _Compact(Path(place, "shallow"), depth=1).measure(nights)
            for program in (_Restic, _Borg):
                if shutil.which(program.name):
                    found[program.name] = program(Path(place, program.name)).measure(nights)
        size = sum(night.stat().st_size for night in nights)
        results.series.append({"name": path.name, "nights": len(nights), "size": size, "found": found})
        _add_rows(results, path.name, len(nights), size, found)


def _add_rows(results: Results, name: str, count: int, size: int, found: dict[str, Any]) -> None:
    ours = found["compact"]
    what = f"{count} nights of {name}, {size // count // MB} MB each"
    title = f"stored bytes of {what}, the newest zstd : all bytes"
    results.add(compare("compact", title, [ours["stored"]], [size], unit="B", reach=RATIOS.get(name)))
    for other in ("restic", "borg"):
        if other in found:
            title = f"stored bytes of {what} : {other}"
            stored = [found[other]["stored"]]
            results.add(compare("compact", title, [ours["stored"]], stored, unit="B", reach=REACHES.get(name)))


def _processor_time() -> float:
    """Return the seconds of this process and of those that it has started and that have ended."""
    return sum(
        one.ru_utime + one.ru_stime for one in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _seconds(work: Callable[[], object]) -> float:
    start = _processor_time()
    work()
    return _processor_time() - start


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


class _Program:
    """Stores nights, and restores the newest, the middle and the oldest one."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    def measure(self, nights: list[Path]) -> dict[str, Any]:
        """Return stored bytes, seconds of processor time for storing, and for each restore."""
        start = _processor_time()
        for number, night in enumerate(nights):
            self.add(number, night)
        self.end()
        seconds = _processor_time() - start
        numbers = {"newest": len(nights) - 1, "middle": len(nights) // 2, "oldest": 0}
        restore = {age: _seconds(partial(self.restore, number)) for age, number in numbers.items()}
        return {"stored": self.size(), "seconds": seconds, "restore": restore} | self.more()

    def add(self, number: int, night: Path) -> None:
        """Store a night."""
        raise NotImplementedError

    def restore(self, number: int) -> None:
        """Read a night to its end."""
        raise NotImplementedError

    def end(self) -> None:
        """Delete what is not needed any more."""

    def size(self) -> int:
        """Return the stored bytes."""
        return _size(self.folder)

    def more(self) -> dict[str, Any]:
        """Return other figures."""
        return {}


class _Compact(_Program):
    """A service with the job `compact`: an upload and a run each night, and `compact.newest = zstd`.

    A night whose name has a host, as `n1-host2.sql`, is a version of its collection; all are in one group. The job runs
    when all hosts have sent theirs.
    """

    def __init__(self, folder: Path, depth: int = 4, newest: str = "zstd") -> None:
        super().__init__(folder)
        self._depth, self._newest = depth, newest
        self._services = self._assemble()
        token = self._services.tokens.generate(NewToken(roles=(Role.ADMINISTRATOR,), expires="never")).id
        self._by = self._services.tokens.look_up(token)
        self._collections: dict[str, str] = {}
        self._places: list[tuple[str, int]] = []
        self._night = ""
        self._upload_seconds = self._encoded = 0.0
        self._time, self._memory, self._nightly = START, 0, 0

    def _assemble(self) -> Services:
        ini = {
            "app.secret": "benchmark",
            "enc.token_phrase": "benchmark",
            "database.url": f"sqlite:///{self.folder}/frepo.db",
            "fs.adapter": "local",
            "fs.local.directory": str(self.folder / "storage"),
            "temp_directory": str(self.folder / "temporary"),
            "ids_mapping.file": str(self.folder / "ids.yaml"),
            "trash.min_free": "0",
            "compact": "true",
            "compact.newest": self._newest,
            "compact.format": "2",
            "compact.depth": str(self._depth),
            "compact.rate": "0",
        }
        engine = make_engine(ini["database.url"])
        migrations.upgrade(engine)
        return assemble(ini, {}, PluginRegistry.from_entry_points(["integrity"]), engine)

    def add(self, number: int, night: Path) -> None:
        """Upload a night, and run the job eight hours after the last one."""
        name, _, host = night.stem.partition("-")
        if self._night and not (host and name == self._night):
            self._run_job(timedelta(hours=8))
            self._time += timedelta(days=1)
        self._night, self._time = name, self._time + timedelta(minutes=1)
        self._upload_seconds += _seconds(lambda: self._upload(host, night))

    def _upload(self, host: str, night: Path) -> None:
        with simulated_time(self._time), night.open("rb") as stream:
            if host not in self._collections:
                change = CollectionChange(
                    limits={COUNT: 0}, filename="dump.sql", compact_group="fleet" if host else None
                )
                self._collections[host] = self._services.collections.create(change, by=self._by).id
            facts = self._services.collections.get(self._collections[host])
            self._services.add_version.add(facts, Incoming(stream=stream), by=self._by)
            self._places.append((facts.id, facts.last_number + 1))

    def _run_job(self, later: timedelta) -> None:
        with simulated_time(self._time + later):
            report = self._services.feature(CompactServices).compaction.run(keep_going=self._look_at_memory)
        if report.failed:
            raise AssertionError(report.problems)
        self._encoded += report.encoded

    def _look_at_memory(self) -> None:
        """Note the most memory that the process that encodes has had."""
        for child in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
            with contextlib.suppress(OSError):
                found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{child}/status").read_text())
                self._memory = max(self._memory, int(found[1]) << 10 if found else 0)

    def end(self) -> None:
        """Delete the former bytes, after two days."""
        self._run_job(timedelta(hours=8))
        self._nightly = self.size()
        self._run_job(timedelta(days=4))
        self._run_job(timedelta(days=7))

    def restore(self, number: int) -> None:
        """Read a version as a download does."""
        collection, number = self._places[number]
        version = self._services.versions.find(collection, f"v{number}")
        with self._services.stored_content.open(version.file.blob) as content:
            while content.read(PIECE):
                pass

    def size(self) -> int:
        """Return the bytes of the storage."""
        return _size(self.folder / "storage")

    def more(self) -> dict[str, Any]:
        """Return also the bytes with `compact.newest = raw`, and the memory of the process that encodes, in bytes.

        `nightly` has the bytes after the last night, with those that wait 48 hours.
        """
        versions = [self._services.versions.find(name, f"v{number}") for name, number in dict(self._places).items()]
        newest_ids = {version.file.blob.id for version in versions}
        with self._services.database.reading() as session:
            objects = session.scalars(select(StoredObject).where(StoredObject.slot.is_not(None))).all()
            newest, depth = [one for one in objects if one.content_id in newest_ids], [one.encoding for one in objects]
        raw = self.size() + sum(one.size - one.object_size for one in newest)
        return {
            "raw": raw,
            "nightly": self._nightly,
            "memory": self._memory,
            "upload": self._upload_seconds,
            "runs": self._encoded,
            "deltas": depth.count("delta"),
        }


class _Command(_Program):
    """A program that is called for each night."""

    def call(self, *command: str, stdin: Path | None = None) -> None:
        """Call the program; its output is thrown away."""
        with (stdin or Path(os.devnull)).open("rb") as content:
            subprocess.run(
                command, stdin=content, env=os.environ | self.environment(), check=True, stdout=subprocess.DEVNULL
            )

    def environment(self) -> dict[str, str]:
        """Return the variables that the program gets."""
        raise NotImplementedError


class _Restic(_Command):
    name = "restic"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.call("restic", "--quiet", "init")

    def environment(self) -> dict[str, str]:
        return {
            "RESTIC_REPOSITORY": str(self.folder / "repository"),
            "RESTIC_PASSWORD": "benchmark",
            "RESTIC_CACHE_DIR": str(self.folder / "cache"),
        }

    def add(self, number: int, night: Path) -> None:
        name = f"n{number:02}"
        self.call("restic", "--quiet", "backup", "--stdin", "--stdin-filename", "dump", "--tag", name, stdin=night)

    def restore(self, number: int) -> None:
        self.call("restic", "--quiet", "dump", "--tag", f"n{number:02}", "latest", "dump")

    def size(self) -> int:
        return _size(self.folder / "repository")


class _Borg(_Command):
    name = "borg"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.call("borg", "init", "--encryption", "none")

    def environment(self) -> dict[str, str]:
        return {"BORG_REPO": str(self.folder / "repository"), "BORG_BASE_DIR": str(self.folder)}

    def add(self, number: int, night: Path) -> None:
        self.call("borg", "create", "--stdin-name", "dump", f"::n{number:02}", "-", stdin=night)

    def restore(self, number: int) -> None:
        self.call("borg", "extract", "--stdout", f"::n{number:02}")

    def size(self) -> int:
        return _size(self.folder / "repository")
