"""What the next upload would evict, for the answer to an edit that lowers limits or changes the strategy."""

from sqlalchemy.orm import Session

from frepo_core.db import utc_now
from frepo_core.domain.structs import struct
from frepo_core.error_explanations import NEUTRAL, FieldNames
from frepo_core.errors import FrepoError, OutdatedDecisionError
from frepo_core.plugins import IncomingVersion
from frepo_core.plugins.registry import PluginRegistry

from ...base.records import CollectionRecord
from .decision import decide
from .evictable_versions import read_state
from .newest_size import find_newest_size
from .questions import Question


@struct
class NextUpload:
    """The numbers of the versions that the next upload would evict; or the error that would refuse it."""

    evicts: tuple[int, ...] = ()
    refused: FrepoError | None = None

    def refusal(self, names: FieldNames = NEUTRAL) -> str | None:
        """Return why the next upload would be refused, with an interface's names of fields; None if it would not."""
        return (self.refused.explain(names) or str(self.refused)) if self.refused else None


def foresee(session: Session, plugins: PluginRegistry, collection: CollectionRecord, question: Question) -> NextUpload:
    """Return what an upload of the size of the newest version would evict now, by the answer to the question.

    Changes nothing. Raises `OutdatedDecisionError`.
    """
    size = find_newest_size(session, collection.id)
    if size is None:
        return NextUpload()
    now = question.answer.at if question.answer else utc_now()
    try:
        state = read_state(session, plugins, collection, now=now)
        incoming = IncomingVersion(size=size, created_at=now)
        evicted = decide(plugins, state, incoming, ask=question.ask_in(collection, state)).evicted
    except OutdatedDecisionError:
        raise
    except FrepoError as error:  # an edit must not fail because uploads will
        return NextUpload(refused=error)
    return NextUpload(evicts=tuple(sorted(version.number for version in evicted)))
