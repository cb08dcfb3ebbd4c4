"""Compares compact storage with zstd of each night alone; `compact_series` with restic and borg, on real dumps."""

import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from frepo_core.features.compact.base_choice import plan
from frepo_core.features.compact.encodings import libraries
from frepo_core.features.compact.planned_content import Content, Encoding, Freedom
from support.encodings.nights import nights
from support.encodings.objects import EncodedObjects, sha256

from . import compact_series
from .harness.measure import Results, Sizes, alternate, compare, compare_with_goal

NIGHTS, ROWS = 14, 600_000
SHORT_NIGHTS, SHORT_ROWS = 6, 150_000
DEPTH = 4
MB = 1_000_000


def run(results: Results, sizes: Sizes) -> None:
    """Store generated nights as the job does; then those in the folders of `FREPO_BENCH_SERIES`, as others do, too."""
    libraries.require_libraries()
    series = list(nights(NIGHTS, ROWS) if sizes.full else nights(SHORT_NIGHTS, SHORT_ROWS))
    what = f"{len(series)} nights of a generated dump, {len(series[0]) // MB} MB each"
    stored = {newest: Nights(newest) for newest in ("raw", "zstd")}
    for newest, nights_ in stored.items():
        for night in series:
            nights_.add(night)
        reach = {"raw": 0.2, "zstd": 0.1}[newest] if sizes.full else None
        title = f"bytes of {what}, the newest {newest} : all bytes"
        results.add(compare("compact", title, [nights_.size()], [sum(map(len, series))], unit="B", reach=reach))
    alone = [_zstd(night) for night in series]
    best = [stored["zstd"].size()]
    results.add(compare("compact", f"bytes of {what} : zstd -3 of each", best, [sum(map(len, alone))], unit="B"))
    _measure_speed(results, _chain(series), series, alone)
    if folder := os.environ.get("FREPO_BENCH_SERIES"):
        compact_series.run(results, Path(folder))


class Nights:
    """A series that is stored night by night, by the plan of the job. No version leaves."""

    def __init__(self, newest: str) -> None:
        self.objects = EncodedObjects()
        self._newest = Freedom(newest)
        self._series: list[bytes] = []
        self._contents: list[Content] = []

    def add(self, night: bytes) -> None:
        """Add a night, and do what the job does after it."""
        self._series.append(night)
        self.objects.add_raw(night)
        older = [replace(one, freedom=Freedom.DELTA) for one in self._contents]
        added = Content(id=len(older), encoding=Encoding.RAW, freedom=self._newest)
        self._contents = [*older, added]
        for step in plan(self._contents, depth=DEPTH):
            content = self._series[step.content_id]
            base = None if step.base_id is None else sha256(self._series[step.base_id])
            self.objects.add(content, base)
            self.objects.raw.pop(sha256(content), None)
            changed = replace(self._contents[step.content_id], encoding=step.encoding, base_id=step.base_id)
            self._contents[step.content_id] = changed

    def size(self) -> int:
        """Return the stored bytes."""
        return sum(map(len, self.objects.objects.values())) + sum(map(len, self.objects.raw.values()))


def _chain(series: list[bytes]) -> EncodedObjects:
    """Encode each night against the next newer one, at most `DEPTH` deep, to measure the speed at each depth."""
    chains = EncodedObjects()
    for age, number in enumerate(reversed(range(len(series)))):
        chains.add(series[number], None if age % (DEPTH + 1) == 0 else sha256(series[number + 1]))
    return chains


def _measure_speed(results: Results, chains: EncodedObjects, series: list[bytes], alone: list[bytes]) -> None:
    """Compare megabytes of content for each second of processor time."""
    older, newer = series[-2], series[-1]
    base = EncodedObjects()
    base.add_raw(newer)
    deepest = series[-1 - DEPTH]
    samples = alternate(
        {
            "delta": _rate(len(older), lambda: base.add(older, sha256(newer))),
            "zstd": _rate(len(older), lambda: _zstd(older)),
            "newest": _rate(len(newer), lambda: _read(chains, newer)),
            "deepest": _rate(len(deepest), lambda: _read(chains, deepest)),
            "unzstd": _rate(len(newer), lambda: libraries.zstd.decompress(alone[-1])),
        }
    )
    more = {"unit": "MB/s", "is_most": False}
    names = {
        "encoding of a night as a delta, one core": ("delta", "zstd", "zstd -3", 100),
        "decoding of the newest night, one core": ("newest", "unzstd", "zstd -d", None),
        f"decoding of a night through {DEPTH} others, one core": ("deepest", "unzstd", "zstd -d", 60),
    }
    for name, (ours, theirs, peer, least) in names.items():
        results.add(compare("compact", f"{name} : {peer}", samples[ours], samples[theirs], **more))
        if least:
            results.add(compare_with_goal("compact", f"{name} : {least} MB/s", samples[ours], least, **more))


def _rate(size: int, work: Callable[[], object]) -> Callable[[], float]:
    def sample() -> float:
        start = time.process_time()
        work()
        return size / MB / (time.process_time() - start)

    return sample


def _read(chains: EncodedObjects, content: bytes) -> None:
    with chains.open(sha256(content)) as reader:
        while reader.read(1 << 20):
            pass


def _zstd(content: bytes) -> bytes:
    return libraries.zstd.compress(content, 3)
