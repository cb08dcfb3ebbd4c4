"""The job `parts`: lists contents that were not listed with their check, and forgets lists that nobody needs."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from frepo_core.plugins import Event, FrepoError, JobContext, NotFoundError, StoredVersion, readable_size

from .listings import FORMAT, Listings, listings_of

_DONE = "listed"
_PAGE = 500
# How often all versions are looked at: for lists that are missing, and for those that nobody needs.
_WHOLE = timedelta(days=7)
# Seconds after which a run leaves the rest to the next one: other jobs of its lane wait for it.
_TURN = 600.0
# A run rests so many times as long as it needs the processor, in the process that also serves requests.
_REST = 9


def run(context: JobContext) -> Mapping[str, Any]:
    """List what has arrived since the last run; at first, in a new folder, and once a week all versions.

    Contents up to `parts.inline_limit` are left out: those are listed while somebody waits.
    """
    turn = _Turn(context)
    done = _find_done(context, turn.listings)
    for event in _new_versions(context, done["position"]):
        if turn.is_over:
            break
        turn.list(str(event.collection_id), event.version_number or 0, event.data)
        done["position"] = event.position
    while done["whole"] is not None and not turn.is_over:
        page = context.service.collections(after=done["whole"] or None, limit=1)
        for version in (one for collection in page.items for one in _versions(context, collection.id)):
            turn.list(version.collection_id, version.number, {"sha256": version.sha256, "size": version.size})
        if not turn.is_over:
            done["whole"] = page.next
            turn.counts["forgotten"] = _forget(context, turn.listings) if page.next is None else 0
    turn.listings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    context.service.store.put(_DONE, done)
    return {name: number for name, number in turn.counts.items() if number}


class _Turn:
    """One run, and how many versions it has `listed`, with `none`, `unreadable`, or left to their check."""

    def __init__(self, context: JobContext) -> None:
        self.listings = listings_of(context)
        self.counts: Counter[str] = Counter()
        self._context = context
        self._end = time.monotonic() + _TURN

    @property
    def is_over(self) -> bool:
        return time.monotonic() >= self._end

    def list(self, collection: str, number: int, content: Mapping[str, Any]) -> None:
        """List a version, whose content has a `size` and a `sha256`, unless it is small or the turn is over."""
        if content["size"] <= self._context.settings.inline_limit or self.is_over:
            return
        self._context.check_lease()
        begin = time.thread_time()
        self.counts[self._list(collection, number, content["sha256"], content["size"])] += 1
        self._rest(_REST * (time.thread_time() - begin))

    def _list(self, collection: str, number: int, digest: str, size: int) -> str:
        context, found = self._context, self.listings.find(digest)
        if found is None:
            context.progress(f"version {number} of collection {collection}, {readable_size(size)}")
            try:
                if any(one.outcome == "pending" for one in context.service.checks(collection, number)):
                    return "left to their check"  # which reads them once for both
                with context.service.open_version(collection, number) as file:
                    found = self.listings.make(digest, size, file, context.check_lease)
            except NotFoundError:  # deleted since
                return "gone"
            except (FrepoError, OSError) as error:  # whatever a storage raises, the others are listed
                context.log.warning("version %s of collection %s cannot be listed now: %s", number, collection, error)
                return "unreadable"
        return "listed" if found.reader else "none"

    def _rest(self, seconds: float) -> None:
        end = min(time.monotonic() + seconds, self._end)
        while (left := end - time.monotonic()) > 0:
            self._context.check_lease()
            time.sleep(min(left, 1.0))


def _find_done(context: JobContext, listings: Listings) -> dict[str, Any]:
    """Return what is done: `position` of the events, and `whole`, after which collection a look at all goes on."""
    found = context.service.store.get(_DONE)
    done = dict(found.value) if found else {}
    if done.get("format") != FORMAT or not listings.folder.exists():
        done = {"format": FORMAT, "position": _last_position(context), "whole": None, "whole_at": "0001-01-01T00:00Z"}
    if done.get("whole") is None and context.now - datetime.fromisoformat(done["whole_at"]) > _WHOLE:
        done |= {"whole": "", "whole_at": context.now.isoformat()}
    return done


def _last_position(context: JobContext) -> int:
    position = 0
    while events := context.service.events(after=position, kinds=["version.*"], limit=1000):
        position = events[-1].position
    return position


def _new_versions(context: JobContext, position: int) -> Iterator[Event]:
    while events := context.service.events(after=position, kinds=["version.added", "version.restored"], limit=_PAGE):
        yield from events
        position = events[-1].position


def _versions(context: JobContext, collection: str) -> Iterator[StoredVersion]:
    after, is_last = None, False
    while not is_last:
        try:
            page = context.service.versions(collection, after=after, limit=_PAGE)
        except NotFoundError:
            return
        yield from page.items
        after, is_last = page.next, page.next is None


def _forget(context: JobContext, listings: Listings) -> int:
    """Delete the lists of contents that no version has; return their number."""
    needed, after, is_last = set(), None, False
    while not is_last:
        page = context.service.collections(after=after, limit=_PAGE)
        needed |= {version.sha256 for one in page.items for version in _versions(context, one.id)}
        after, is_last = page.next, page.next is None
    gone = [digest for digest in listings.digests() if digest not in needed]
    for digest in gone:
        listings.forget(digest)
    return len(gone)
