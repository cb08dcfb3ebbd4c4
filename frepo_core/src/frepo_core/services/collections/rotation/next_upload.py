"""What the next upload would evict, for the answer to an edit that lowers limits or changes the strategy."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.db.models import Blob, File, Version
from frepo_core.errors import FrepoError
from frepo_core.plugins import IncomingVersion, PluginRegistry

from ...records import CollectionRecord
from .decision import decide
from .stored_state import read_state


@dataclass(frozen=True, kw_only=True)
class NextUpload:
    """The numbers of the versions that the next upload would evict; or why it would be refused, as a text."""

    evicts: tuple[int, ...] = ()
    refused: str | None = None


def foresee(session: Session, plugins: PluginRegistry, collection: CollectionRecord) -> NextUpload:
    """Return what an upload of the size of the newest version would evict now. Changes nothing."""
    newest = select(Blob.size).join(File, File.blob_id == Blob.id).join(Version, Version.file_id == File.id)
    trusted = newest.where(Version.collection_id == collection.id, Version.quarantined_at.is_(None))
    size = session.scalar(trusted.order_by(Version.number.desc()).limit(1))
    if size is None:
        return NextUpload()
    incoming = IncomingVersion(size=size, created_at=utc_now())
    try:
        state = read_state(session, plugins, collection, now=incoming.created_at)
        evicted = decide(plugins, state, incoming).evicted
    except FrepoError as error:  # an edit must not fail because uploads will
        return NextUpload(refused=error.explanation or str(error))
    return NextUpload(evicts=tuple(sorted(version.number for version in evicted)))
