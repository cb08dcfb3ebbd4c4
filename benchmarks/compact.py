"""Compares the codec of compact storage with zstd of each night alone, on a generated series of database dumps."""

import time
from collections.abc import Callable, Iterator

from frepo_core.services.content.encodings import libraries
from support.encodings.nights import nights
from support.encodings.objects import EncodedObjects, sha256

from .harness.measure import Results, Sizes, alternate, compare, compare_with_goal

NIGHTS, ROWS = 14, 600_000
SHORT_NIGHTS, SHORT_ROWS = 6, 150_000
DEPTH = 4
MB = 1_000_000


def run(results: Results, sizes: Sizes) -> None:
    """Encode each night against the next one, at most four deep; the newest is compressed alone."""
    libraries.require_libraries()
    series = list(nights(NIGHTS, ROWS) if sizes.full else nights(SHORT_NIGHTS, SHORT_ROWS))
    chains = EncodedObjects()
    for number, base in _bases(len(series)):
        chains.add(series[number], None if base is None else sha256(series[base]))
    alone = [_zstd(night) for night in series]

    what = f"{len(series)} nights of {len(series[0]) // MB} MB"
    stored = sum(map(len, chains.objects.values()))
    theirs = [sum(map(len, alone))]
    # One of five nights is compressed alone, and so is the newest.
    results.add(compare("compact", f"bytes of {what} : zstd -3 of each", [stored], theirs, unit="B", reach=0.4))
    delta = [len(chains.objects[sha256(series[-2])])]
    results.add(
        compare("compact", "bytes of a delta : zstd -3 of its night", delta, [len(alone[-2])], unit="B", reach=0.03)
    )
    _measure_speed(results, chains, series, alone)


def _bases(count: int) -> Iterator[tuple[int, int | None]]:
    """Yield each night, the newest first, with its base: the next newer one, or None for one that is stored alone."""
    for age, number in enumerate(reversed(range(count))):
        yield number, None if age % (DEPTH + 1) == 0 else number + 1


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
