"""Breaks of guards whose story in the code is another one than in the model, with these stories."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from frepo_core.db import utc_now
from frepo_core.db.models import StoredObject
from frepo_core.errors import BlobRetained
from frepo_core.features.recovery import recovery
from frepo_core.features.recovery.feature import RecoveryServices
from frepo_core.services.content.objects import gate
from frepo_core.services.content.objects.states import ObjectState

from .breaks import is_unrecoverable
from .places import DIGESTS, STORAGES
from .site import Site


class Story(NamedTuple):
    """What is patched, and the story: it returns which promise is broken, or an empty text."""

    patch: Callable[[pytest.MonkeyPatch], None]
    tell: Callable[[Site, Path], str]


def recover_from_first(site: Site, folder: Path) -> str:
    """Recover from the first storage; what is uploaded then has to be recovered from the second one alone."""
    _upload(site, "X")
    site.do("the database is lost, and recovered from A and B")
    site.services.feature(RecoveryServices).journal.write_catalogue()
    _upload(site, "Y")
    for step in ("the job begins Y in B (writing)", "the job stores Y in B (writing)"):
        site.do(step)
    site.do("Y in B (writing) becomes the current one")
    site.owed.pop(0)  # it has no copy: the second storage alone cannot give it back
    return is_unrecoverable(STORAGES[1])(site, folder)


def repeat_refused_deletion(site: Site, folder: Path) -> str:
    """Let a storage refuse a deletion that a slow process repeats, after somebody has brought the version back."""
    _upload(site, "X")
    site.services.feature(RecoveryServices).journal.write_catalogue()
    before = utc_now()
    site.do("a version of X is deleted")
    site.do("X in A (leaving) is doomed")
    doomed = [row for row in site.real.places.rows() if row.state == ObjectState.DOOMED and row.storage == STORAGES[0]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(site.memory[STORAGES[0]]), "delete", _refuse)
        for row in doomed:
            site.services.blobs.gate.end(row)
    with site.services.feature(RecoveryServices).merge(STORAGES[0], lambda text: None, at=before) as merge:
        report = merge.run(merge.find(), by=None)
    for row in doomed:
        site.services.blobs.gate.end(row)
    is_back = DIGESTS[0] in site.real.places.used()
    return "brought back, and lost" if is_back and not report.missing and 0 not in site.readable() else ""


def _upload(site: Site, content: str) -> None:
    site.do(f"an upload stores {content} in A (no row)")
    site.do(f"an upload commits {content} in A (no row)")


def _refuse(storage: Any, key: str) -> None:
    raise BlobRetained(f"{key} is retained", until=utc_now() + timedelta(days=1))


def _adopt_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(recovery, "find_used_storages", lambda session: set[str]())
    patch.setattr(recovery.Recovery, "_find_owned", lambda self, source: set[str]())


def _give_back(patch: pytest.MonkeyPatch) -> None:
    def postpone(object_id: int, problem: str, session: Any) -> None:
        row = session.get(StoredObject, object_id)
        row.state, row.error = ObjectState.SUPERSEDED.value, problem

    patch.setattr(gate, "_postpone", postpone)


STORIES = {
    "adopts_all": Story(_adopt_one, recover_from_first),
    "doomed_is_final": Story(_give_back, repeat_refused_deletion),
}
