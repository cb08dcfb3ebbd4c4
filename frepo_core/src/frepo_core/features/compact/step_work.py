"""Does the steps of a plan, one content at a time: encodes it, or stores it raw again."""

from collections.abc import Callable
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.errors import FrepoError
from frepo_core.plugins import LeaseLost
from frepo_core.services.content.blobs.lifecycle import Blobs
from frepo_core.services.content.objects.states import CURRENT
from frepo_core.services.content.seekable_content import seekable_content
from frepo_core.settings import Settings

from .compact_report import CompactReport
from .content_encoder import ContentEncoder, Encoded
from .encoding_switch import EncodingSwitch
from .encodings.format import WINDOWS_FORMAT, has_several_windows, read_head
from .expansion import Expansion, is_unchanged
from .planned_content import Encoding, Freedom, Step
from .series import may_rely_on
from .survey import Survey
from .trials import ALONE, note_tried
from .uses import is_newest, read_freedom, read_heads, read_users


class StepWork:
    """Does the steps of one run of the job, and counts them in its report."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        switch: EncodingSwitch,
        settings: Settings,
        encoder: ContentEncoder,
        expansion: Expansion,
        report: CompactReport,
        pace: Callable[[int], None],
    ) -> None:
        """`pace` is called with the bytes that were read back; it may end the run."""
        self._database = database
        self._blobs = blobs
        self._switch = switch
        self._settings = settings
        self._encoder = encoder
        self._expansion = expansion
        self._report = report
        self._pace = pace

    def do(self, survey: Survey, step: Step) -> None:
        """Do what a step says, unless the content was changed since its collection was read.

        A content that fails is reported. Raises `LeaseLost`.
        """
        row, base = self._read(survey, step)
        if row is None or row.key != survey.rows[step.content_id].key or (step.base_id is not None and base is None):
            self._report.skipped += 1
            return
        if step.encoding is Encoding.RAW:
            self._expansion.expand(row)
            return
        for dependent in self._find_windowed(survey, step):
            self._encode(dependent, row, has_windows=False)
        has_windows = step.is_base_lasting and self._settings.compact_format >= WINDOWS_FORMAT
        self._encode(row, base, has_windows=has_windows)

    def _find_windowed(self, survey: Survey, step: Step) -> list[StoredObject]:
        """Return the dependents of a content that have several windows in it.

        When it becomes a difference, it would be decoded again for each window: they get one before.
        """
        rows = (self._read_current(survey.storage, content_id) for content_id in step.dependents)
        return [row for row in rows if row is not None and self._has_several_windows(row)]

    def _has_several_windows(self, row: StoredObject) -> bool:
        try:
            open_at = partial(self._blobs.backends.get(row.storage).open, str(row.key))
            with seekable_content(open_at, row.object_size) as stored:
                return has_several_windows(stored, row.digest)
        except FrepoError as error:
            self._report.note_failure(f"content {row.digest}", error)
            return False

    def _encode(self, row: StoredObject, base: StoredObject | None, *, has_windows: bool) -> None:
        try:
            with self._encoder.encoded(row, base, has_windows=has_windows) as encoded:
                self._use(encoded, row, base)
        except LeaseLost:
            raise
        except FrepoError as error:
            if is_unchanged(self._database, row, *([base] if base is not None else [])):
                self._report.note_failure(f"content {row.digest}", error)
            else:
                self._report.skipped += 1

    def _read(self, survey: Survey, step: Step) -> tuple[StoredObject | None, StoredObject | None]:
        """Return the present objects of the content of a step, and of its base."""
        base = self._read_current(survey.storage, step.base_id) if step.base_id is not None else None
        return self._read_current(survey.storage, step.content_id), base

    def _read_current(self, storage: str, content_id: int) -> StoredObject | None:
        current = (StoredObject.content_id == content_id, StoredObject.storage == storage)
        with self._database.reading() as session:
            return session.scalar(select(StoredObject).where(*current, StoredObject.slot == CURRENT))

    def _use(self, encoded: Encoded, row: StoredObject, base: StoredObject | None) -> None:
        self._note_tried(row, base, encoded.codec)
        if encoded.codec == Encoding.RAW or encoded.codec == row.encoding == Encoding.ZSTD:
            self._report.left += 1
            if row.encoding != encoded.codec:
                self._expansion.expand(row)  # it is moved away from the base that it has
            return
        with encoded.path.open("rb") as file:
            is_switched = self._switch.replace(
                row,
                file,
                head := read_head(file, row.digest),
                digest=encoded.digest,
                most_levels=self._settings.compact_depth,
                allow=self._is_allowed,
                pace=self._pace,
            )
        if not is_switched:
            self._report.skipped += 1
            return
        self._report.encoded += 1
        self._report.before_size += row.object_size
        self._report.after_size += head.stored

    def _note_tried(self, row: StoredObject, base: StoredObject | None, codec: str) -> None:
        """Note what saves too little: the difference to this base, and compressing alone."""
        digests = [base.digest] if base is not None and codec != Encoding.DELTA else []
        digests += [ALONE] if codec == Encoding.RAW else []
        if digests and (content_id := row.content_id) is not None:
            self._database.write(lambda session: note_tried(session, content_id, *digests))

    def _is_allowed(self, session: Session, row: StoredObject, base: StoredObject | None) -> bool:
        """Return whether a content may still be encoded, by what uses it now that it is locked."""
        ids = [one.content_id for one in (row, base) if one is not None and one.content_id is not None]
        users = read_users(session, ids, utc_now())
        if users[ids[0]].standing < users[ids[-1]].standing:
            return False  # the base is worse
        if base is not None and not may_rely_on(session, self._blobs.backends, users[ids[0]], users[ids[-1]], ids[-1]):
            return False  # it is of another collection, without its consent or a second copy
        freedom = read_freedom(session, row, self._settings)
        if freedom is Freedom.SHARED and base is not None:
            return base.encoding != Encoding.DELTA and is_newest(
                users[ids[-1]], read_heads(session, users[ids[-1]].collections)
            )
        return freedom is Freedom.DELTA or (freedom in {Freedom.ZSTD, Freedom.SHARED} and base is None)
