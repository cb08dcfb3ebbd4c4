"""The job `parts`: lists new contents, and those whose list is missing, and forgets lists that nobody needs."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from frepo_core.plugins import FrepoError, Job, JobContext, NotFoundError, StoredVersion, readable_size

from .listings import FORMAT, Listings

NAME, SCHEDULE = "parts", "every 15m"
# Until which position of the events the lists are complete; `format` is that of the lists.
_DONE = "listed"
_PAGE = 500
# How often all versions are looked at: for lists that are missing, and for those that nobody needs.
_WHOLE = timedelta(days=7)


def make_job() -> Job:
    """Return the job."""
    return Job(name=NAME, schedule=SCHEDULE, run=run, lane="medium", summary="List the tables and files in backups")


def run(context: JobContext) -> Mapping[str, Any]:
    """List what has arrived since the last run; at first, and in a new folder, all versions."""
    listings = Listings(context)
    counts = {"listed": 0, "none": 0, "unreadable": 0}
    done = context.service.store.get(_DONE)
    known = done.value if done else {}
    is_whole = known.get("format") != FORMAT or not listings.folder.exists()
    is_whole = is_whole or context.now - datetime.fromisoformat(known["whole_at"]) > _WHOLE
    position = _last_position(context) if is_whole else known["position"]
    for version, reached in _all_versions(context) if is_whole else _new_versions(context, position):
        context.check_lease()
        counts[_list(context, listings, version)] += 1
        position = max(position, reached)
    listings.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    whole_at = context.now.isoformat() if is_whole else known["whole_at"]
    context.service.store.put(_DONE, {"format": FORMAT, "position": position, "whole_at": whole_at})
    if is_whole:
        counts["forgotten"] = _forget(context, listings)
    return {name: number for name, number in counts.items() if number}


def _list(context: JobContext, listings: Listings, version: StoredVersion) -> str:
    found = listings.find(version.sha256)
    if found is None:
        context.progress(
            f"version {version.number} of collection {version.collection_id}, {readable_size(version.size)}"
        )
        try:
            with context.service.open_version(version.collection_id, version.number) as file:
                found = listings.make(version.sha256, version.size, file, context.check_lease)
        except (FrepoError, OSError) as error:  # whatever a storage raises, the others are listed
            context.log.warning(
                "version %s of collection %s cannot be listed now: %s", version.number, version.collection_id, error
            )
            return "unreadable"
    return "listed" if found.reader else "none"


def _last_position(context: JobContext) -> int:
    position = 0
    while events := context.service.events(after=position, kinds=["version.*"], limit=1000):
        position = events[-1].position
    return position


def _new_versions(context: JobContext, position: int) -> Iterator[tuple[StoredVersion, int]]:
    kinds = ["version.added", "version.restored"]
    while events := context.service.events(after=position, kinds=kinds, limit=_PAGE):
        for event in events:
            position = event.position
            try:
                yield context.service.version(str(event.collection_id), f"v{event.version_number}"), position
            except NotFoundError:
                continue


def _all_versions(context: JobContext) -> Iterator[tuple[StoredVersion, int]]:
    after, is_last = None, False
    while not is_last:
        page = context.service.collections(after=after, limit=_PAGE)
        for collection in page.items:
            yield from ((version, 0) for version in _versions(context, collection.id))
        after, is_last = page.next, page.next is None


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
    needed = {version.sha256 for version, _ in _all_versions(context)}
    gone = [digest for digest in listings.digests() if digest not in needed]
    for digest in gone:
        listings.forget(digest)
    return len(gone)
