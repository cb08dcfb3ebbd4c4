"""Breaks each guard in the code of the service, and says how that is seen."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import select

from frepo_core.db.models import Content, File, StoredObject, Version
from frepo_core.features.compact import encoding_switch
from frepo_core.features.moves import collection_move
from frepo_core.features.moves.feature import MoveServices
from frepo_core.features.recovery import merge
from frepo_core.features.second_copies import copy_reports
from frepo_core.features.second_copies.copier import Copier, CopyResult, Outcome
from frepo_core.features.second_copies.feature import SecondCopyServices
from frepo_core.services.base.records import BlobRecord
from frepo_core.services.content.blobs import lifecycle, object_reads
from frepo_core.services.content.blobs.blob_write import BlobWrite
from frepo_core.services.content.blobs.upload_transaction import UploadTransaction
from frepo_core.services.content.objects import gate, necessity, settlement
from frepo_core.services.content.objects.found_objects import FoundObjects
from frepo_core.services.content.objects.states import CURRENT, DELTA, ObjectState
from frepo_core.services.content.objects.supersession import supersede
from frepo_core.services.content.storages.journal_comparison import JournalComparison

from .places import DIGESTS, STORAGES
from .site import Site, find_current_only

Look = Callable[[Site, Path], str]


class Break(NamedTuple):
    """What is patched, and what tells that a promise is broken after the story: a text, or an empty one."""

    patch: Callable[[pytest.MonkeyPatch], None]
    look: Look


# How it is seen. The folder is for another machine.


def is_lost(site: Site, folder: Path) -> str:
    """Look whether something that was acknowledged cannot be read."""
    return f"lost: {sorted(site.lost())}" if site.lost() else ""


def is_elsewhere(site: Site, folder: Path) -> str:
    """Look whether something that was acknowledged is not in the storage of its collection."""
    first = STORAGES.index(site.services.backends.current)
    lacking = [content for content in site.owed if not any(row.key for row in site.real.places.find(content, first))]
    return f"not in the first storage: {lacking}" if lacking else ""


def is_unrecoverable(*storages: str) -> Look:
    """Look whether a recovery from these storages finds all, and makes current what is decodable by what is current."""

    def look(site: Site, folder: Path) -> str:
        other = site.recover(folder, *storages)
        current = {digest for _, digest in find_current_only(other)}
        bad = other.lost() | {
            content for content, count in site.owed.items() if count and DIGESTS[content] not in current
        }
        other.close()
        return f"not recovered: {sorted(bad)}" if bad else ""

    return look


def is_circular(site: Site, folder: Path) -> str:
    """Look whether the current objects of what was acknowledged need each other."""
    current = {digest for _, digest in find_current_only(site)}
    bad = [content for content in site.owed if DIGESTS[content] not in current]
    return f"current objects that need each other: {bad}" if bad else ""


def says_all_copies(site: Site, folder: Path) -> str:
    """Look whether all is said to be copied, although there is nothing in the storage of second copies."""
    (said,) = [one for one in site.services.feature(SecondCopyServices).reports.read() if one.storage == STORAGES[1]]
    says_all = not said.behind and said.is_known
    return "it is said that each content has its copy" if says_all and not site.real.places.keys(STORAGES[1]) else ""


def says_missing(site: Site, folder: Path) -> str:
    """Look whether a merge says that something is missing which can be read."""
    missing = [one for report in site.merged for one in report.missing]
    return f"said to be missing: {missing}" if missing and not site.lost() else ""


def has_wrong_copy(site: Site, folder: Path) -> str:
    """Look whether wrong bytes count as a second copy."""
    rows = [row for row in site.real.places.rows() if row.storage == STORAGES[1] and row.state == ObjectState.PRESENT]
    wrong = [row.key for row in rows if not site.real.places.is_sound(row.storage, str(row.key))]
    return f"wrong copies: {wrong}" if wrong else ""


def lacks_copy(site: Site, folder: Path) -> str:
    """Look whether a move has taken the second copy from what it was."""
    site.services.feature(MoveServices).collections.run()
    has = [row for row in site.real.places.find(0, 1) if row.slot == CURRENT and row.state == ObjectState.PRESENT]
    return "" if has else "the second copy is made again"


# What is broken.


def _locate_by_lines(patch: pytest.MonkeyPatch) -> None:
    register = FoundObjects.register

    def register_in_first(self: Any, storage: str, *more: Any, **named: Any) -> Any:
        return register(self, storage, *more, **named) if storage == STORAGES[0] else {}

    patch.setattr(FoundObjects, "register", register_in_first)


def _prefer_differences(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(settlement, "_rank", lambda session, row: (row.encoding != DELTA, False, -row.id))


def _forget_bases(patch: pytest.MonkeyPatch) -> None:
    register = FoundObjects.register

    def register_named(self: Any, storage: str, stats: Any, **named: Any) -> Any:
        return register(self, storage, stats, **named | {"only_known": True})

    patch.setattr(FoundObjects, "register", register_named)
    _prefer_differences(patch)


def _rely_on_what_was_not_read(patch: pytest.MonkeyPatch) -> None:
    find = necessity._find_path
    patch.setattr(necessity, "_find_path", lambda session, row, storage, _: find(session, row, storage, lambda _: True))


def _ignore_adoption(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(gate, "is_waiting", lambda *_: False)
    patch.setattr(lifecycle, "is_waiting", lambda *_: False)
    patch.setattr(JournalComparison, "is_compared", lambda *_: True)


def _ignore_time(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(collection_move, "KEPT_FOR", timedelta(days=-1))


def _supersede_all(patch: pytest.MonkeyPatch) -> None:
    def supersede_others(session: Any, backends: Any, content_id: int, *, keeps: Any) -> int:
        others = (StoredObject.content_id == content_id, StoredObject.slot == CURRENT)
        rows = session.scalars(select(StoredObject).where(*others, StoredObject.storage != STORAGES[2])).all()
        for row in rows:
            supersede(session, row, keeps=keeps)
        return len(rows)

    patch.setattr(collection_move, "supersede_unpromised", supersede_others)


def _read_first_storage_only(patch: pytest.MonkeyPatch) -> None:
    find = object_reads.find_places

    def find_in_first(session: Any, digest: str, storage: str) -> Any:
        return [row for row in find(session, digest, storage) if row.storage == storage]

    patch.setattr(object_reads, "find_places", find_in_first)


def _count_what_is_wanted(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(copy_reports, "is_compared", lambda *_: True)
    patch.setattr(settlement, "want", lambda *_: 0)


def _look_in_one_storage(patch: pytest.MonkeyPatch) -> None:
    def find_lost(session: Any) -> Any:
        there = select(StoredObject.content_id).where(
            StoredObject.storage == STORAGES[1], StoredObject.key.is_not(None)
        )
        versions = select(Version).join(File, File.id == Version.file_id).where(File.content_id.not_in(there))
        return [(row.collection_id, row.number) for row in session.scalars(versions)], []

    patch.setattr(merge, "find_lost", find_lost)


def _delete_what_is_found(patch: pytest.MonkeyPatch) -> None:
    def delete(self: Any, storage: str, stats: Any, **_: Any) -> Any:
        for stat in stats:
            self._backends.get(storage).delete(stat.key)
        return {}

    patch.setattr(FoundObjects, "register", delete)


def _rely_on_what_was_seen(patch: pytest.MonkeyPatch) -> None:
    upsert = BlobWrite.upsert_row

    def upsert_seen(self: Any, session: Any) -> BlobRecord:
        if self._key is not None:
            return upsert(self, session)
        content = session.scalars(select(Content).where(Content.digest == self._content.digest)).one()
        row = session.scalars(select(StoredObject).where(StoredObject.content_id == content.id)).first()
        return BlobRecord.of(content, row)

    patch.setattr(BlobWrite, "upsert_row", upsert_seen)


def _rely_on_own_bytes(patch: pytest.MonkeyPatch) -> None:
    use = BlobWrite._use_key

    def use_key(self: Any, session: Any) -> Any:
        columns = ("storage", "key", "state", "slot", "since", "stored_at", "read_at")
        row = session.scalars(select(StoredObject).where(StoredObject.key == self._key)).first()
        return use(self, session) if row is None else {name: getattr(row, name) for name in columns}

    patch.setattr(BlobWrite, "_require_recent", lambda self: None)
    patch.setattr(BlobWrite, "_require_unnamed", lambda self, session: None)
    patch.setattr(BlobWrite, "_use_key", use_key)


def _stay_in_former_storage(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(UploadTransaction, "require_storage", lambda self, storage: None)


def _switch_to_any_base(patch: pytest.MonkeyPatch) -> None:
    def find_base(session: Any, row: StoredObject, digest: str, most_levels: int) -> Any:
        current = (StoredObject.digest == digest, StoredObject.storage == row.storage, StoredObject.slot == CURRENT)
        return session.scalar(select(StoredObject).where(*current))

    patch.setattr(encoding_switch, "_find_base", find_base)


def _count_unread_copies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Copier, "_check", lambda self, task, *_: CopyResult(task=task, outcome=Outcome.PRESENT))


def _in_rules(name: str, answer: bool) -> Callable[[pytest.MonkeyPatch], None]:
    """Let a rule of the gate give this answer."""
    return lambda patch: patch.setattr(necessity, name, lambda *_: answer)


BREAKS = {
    "listings_say_where": Break(_locate_by_lines, is_unrecoverable(STORAGES[1])),
    "prefers_bases_that_exist": Break(_forget_bases, is_unrecoverable(STORAGES[0])),
    "uses_the_fixed_point": Break(_prefer_differences, is_unrecoverable(STORAGES[0])),
    "counts_only_what_was_read": Break(_rely_on_what_was_not_read, is_lost),
    "waits_two_days": Break(_ignore_time, is_lost),
    "waits_for_reconcile": Break(_ignore_adoption, is_lost),
    "promotion_changes_no_object": Break(_read_first_storage_only, is_lost),
    "counts_copies": Break(_count_what_is_wanted, says_all_copies),
    "move_changes_no_object": Break(_supersede_all, lacks_copy),
    "keeps_what_others_need": Break(_in_rules("_keeps_others", False), is_lost),
    "says_missing_of_all": Break(_look_in_one_storage, says_missing),
    "registers_before_deleting": Break(_delete_what_is_found, is_lost),
    "keeps_what_is_promised": Break(_in_rules("_has_survivor", True), is_lost),
    "looks_again": Break(_rely_on_what_was_seen, is_lost),
    "follows_promotion": Break(_stay_in_former_storage, is_elsewhere),
    "keeps_its_row": Break(_rely_on_own_bytes, is_lost),
    "refuses_circles": Break(_switch_to_any_base, is_circular),
    "reads_back": Break(_count_unread_copies, has_wrong_copy),
}
