"""The job `compact`: encodes what the plans of the collections say, one content at a time, and undoes that."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError
from frepo_core.plugins import LeaseLost
from frepo_core.services.base.rate_limit import RateLimit
from frepo_core.services.content.blobs.lifecycle import Blobs
from frepo_core.services.content.objects.states import CURRENT
from frepo_core.services.content.seekable_content import seekable_content
from frepo_core.settings import Settings

from ..preview.preview import Previews
from .compact_figures import note_figures
from .compact_report import CompactReport
from .content_encoder import ContentEncoder, Encoded
from .encoder_process import SHARE
from .encoding_switch import EncodingSwitch
from .encodings.format import WINDOWS_FORMAT, has_several_windows, read_head
from .encodings.libraries import require_libraries
from .expansion import Expansion, is_unchanged
from .former_storages import leave_former_storages
from .likeness import Sketch
from .planned_content import Encoding, Freedom, Step
from .plans import Plans
from .processor_share import ProcessorShare
from .series import may_rely_on
from .sketches import note_sketch, telling
from .survey import Survey
from .trials import ALONE, note_tried
from .uses import is_newest, read_freedom, read_heads, read_users

log = logging.getLogger(__name__)

SAMPLES = 20
# Compaction pauses while clients restore. It looks again after this many seconds.
PAUSE = 0.5


@struct
class Forecast:
    """How many contents a run would encode, their bytes, and about how many of these it would save."""

    contents: int
    size: int
    saved_size: int


class Compaction:
    """Compacts the collections of a service. One run at a time."""

    def __init__(
        self,
        database: Database,
        blobs: Blobs,
        switch: EncodingSwitch,
        previews: Previews,
        settings: Settings,
        directory: str | None,
        is_restoring: Callable[[], bool],
    ) -> None:
        """The job begins with no further content while `is_restoring` says that clients wait for old versions."""
        self._is_restoring = is_restoring
        self._database = database
        self._blobs = blobs
        self._switch = switch
        self._plans = Plans(database, blobs.backends, previews, settings)
        self._settings = settings
        self._directory = directory

    def run(
        self,
        *,
        keep_going: Callable[[], None],
        progress: Callable[[str], None] = lambda _: None,
        avoids_busy_hours: bool = False,
    ) -> CompactReport:
        """Compact all collections, page by page. `keep_going` is called about once a second and may end the run.

        With `avoids_busy_hours`, nothing is begun in the hours in which uploads usually come.
        A content that fails is reported, and the others are compacted. Raises `ConfigurationError` if the extra is
        missing.
        """
        require_libraries()
        report = CompactReport()
        share = _share(keep_going)
        go_on, pace = _paced(self._settings.compact_rate, keep_going, share)
        busy = self._plans.busy_hours() if avoids_busy_hours else frozenset()
        with self._encoder(self._settings.compact_rate, go_on, pace) as encoder:
            expansion = self._expansion(encoder, report, pace)
            expansion.expand_adopted(lambda session, row: read_freedom(session, row, self._settings))
            steps = self._plans.steps(report.note_failure, go_on, partial(self._sketch, encoder, busy))
            for survey, step in steps:
                if (now := utc_now()).hour in busy:
                    report.wait(busy, now)
                    continue
                self._let_restore(keep_going)
                self._do(survey, step, encoder, expansion, report, pace)
                progress(report.line())
        leave_former_storages(self._database, self._blobs.backends)
        for storage in self._blobs.backends.configured:
            report.deleted += self._end_superseded(storage, keep_going, pace)
        note_figures(self._database, self._blobs.backends, report.failed + report.skipped + report.waiting)
        share()
        return report

    def _let_restore(self, keep_going: Callable[[], None]) -> None:
        while self._is_restoring():
            keep_going()
            time.sleep(PAUSE)

    def forecast(self, *, keep_going: Callable[[], None], progress: Callable[[str], None] = lambda _: None) -> Forecast:
        """Say what a run would do now, without storing anything.

        One content of each collection is encoded to see what that saves, of at most 20 collections.
        """
        require_libraries()
        found, tried, samples = dict[str, list[tuple[StoredObject, StoredObject | None, Step]]](), 0, 0
        for survey, step in self._plans.steps(CompactReport().note_failure, keep_going, lambda rows: {}):
            base = survey.rows.get(step.base_id) if step.base_id is not None else None
            found.setdefault(survey.collection_id, []).append((survey.rows[step.content_id], base, step))
        encode = [
            steps
            for all_steps in found.values()
            if (steps := [one for one in all_steps if one[2].encoding != Encoding.RAW])
        ]
        with self._encoder(0, keep_going, RateLimit(0, keep_going=keep_going)) as encoder:
            for (row, base, _), *_ in encode[:SAMPLES]:
                progress(f"{samples} of {min(len(encode), SAMPLES)} samples")
                with encoder.encoded(row, base) as encoded:
                    is_left = encoded.codec == Encoding.RAW
                    samples += row.size if is_left else encoded.path.stat().st_size
                tried += row.size
        size = sum(row.object_size for steps in encode for row, *_ in steps)
        share = 1 - samples / tried if tried else 0.0
        return Forecast(contents=sum(len(steps) for steps in encode), size=size, saved_size=round(size * share))

    def _sketch(
        self, encoder: ContentEncoder, busy: frozenset[int], rows: Iterable[StoredObject]
    ) -> Mapping[int, Sketch]:
        """Make and store sketches, except in the hours in which uploads come. What cannot be read gets none."""
        made = dict[int, Sketch]()
        for row in rows:
            if utc_now().hour in busy or row.content_id is None:
                continue
            content_id = row.content_id
            try:
                sketch = encoder.sketch(row)
            except LeaseLost:
                raise
            except FrepoError as error:
                log.warning("no sketch of the content %s: %s", row.digest, error.message)
                continue  # to encode it will fail, too, and be reported
            self._database.write(partial(note_sketch, content_id=content_id, sketch=sketch))
            made[content_id] = telling(sketch)
        return made

    def _encoder(self, rate: int, keep_going: Callable[[], None], pace: Callable[[int], None]) -> ContentEncoder:
        return ContentEncoder(
            self._database, self._blobs.backends, self._directory, rate=rate, keep_going=keep_going, pace=pace
        )

    def expand_all(
        self, *, keep_going: Callable[[], None], progress: Callable[[str], None] = lambda _: None
    ) -> CompactReport:
        """Store all contents raw again. It can be stopped at any time, and repeated."""
        require_libraries()
        go_on, pace = _paced(0, keep_going, _share(keep_going))
        report = CompactReport()
        with self._encoder(0, go_on, pace) as encoder:
            self._expansion(encoder, report, pace).expand_all(progress)
        note_figures(self._database, self._blobs.backends, 0)
        return report

    def _expansion(self, encoder: ContentEncoder, report: CompactReport, pace: Callable[[int], None]) -> Expansion:
        return Expansion(self._database, self._blobs, self._switch, encoder, report, pace)

    def _do(
        self,
        survey: Survey,
        step: Step,
        encoder: ContentEncoder,
        expansion: Expansion,
        report: CompactReport,
        pace: Callable[[int], None],
    ) -> None:
        row, base = self._read(survey, step)
        if row is None or row.key != survey.rows[step.content_id].key or (step.base_id is not None and base is None):
            report.skipped += 1
            return
        if step.encoding is Encoding.RAW:
            expansion.expand(row)
            return
        encode = partial(self._encode, encoder=encoder, expansion=expansion, report=report, pace=pace)
        for dependent in self._find_windowed(survey, step, report):
            encode(dependent, row, has_windows=False)
        has_windows = step.is_base_lasting and self._settings.compact_format >= WINDOWS_FORMAT
        encode(row, base, has_windows=has_windows)

    def _find_windowed(self, survey: Survey, step: Step, report: CompactReport) -> list[StoredObject]:
        """Return the dependents of a content that have several windows in it.

        When it becomes a difference, it would be decoded again for each window: they get one before.
        """
        rows = (self._read_current(survey.storage, content_id) for content_id in step.dependents)
        return [row for row in rows if row is not None and self._has_several_windows(row, report)]

    def _has_several_windows(self, row: StoredObject, report: CompactReport) -> bool:
        try:
            open_at = partial(self._blobs.backends.get(row.storage).open, str(row.key))
            with seekable_content(open_at, row.object_size) as stored:
                return has_several_windows(stored, row.digest)
        except FrepoError as error:
            report.note_failure(f"content {row.digest}", error)
            return False

    def _encode(
        self,
        row: StoredObject,
        base: StoredObject | None,
        *,
        has_windows: bool,
        encoder: ContentEncoder,
        expansion: Expansion,
        report: CompactReport,
        pace: Callable[[int], None],
    ) -> None:
        try:
            with encoder.encoded(row, base, has_windows=has_windows) as encoded:
                self._use(encoded, row, base, expansion, report, pace)
        except LeaseLost:
            raise
        except FrepoError as error:
            if is_unchanged(self._database, row, *([base] if base is not None else [])):
                report.note_failure(f"content {row.digest}", error)
            else:
                report.skipped += 1

    def _read(self, survey: Survey, step: Step) -> tuple[StoredObject | None, StoredObject | None]:
        """Return the present objects of the content of a step, and of its base."""
        base = self._read_current(survey.storage, step.base_id) if step.base_id is not None else None
        return self._read_current(survey.storage, step.content_id), base

    def _read_current(self, storage: str, content_id: int) -> StoredObject | None:
        current = (StoredObject.content_id == content_id, StoredObject.storage == storage)
        with self._database.reading() as session:
            return session.scalar(select(StoredObject).where(*current, StoredObject.slot == CURRENT))

    def _end_superseded(self, storage: str, keep_going: Callable[[], None], pace: Callable[[int], None]) -> int:
        """Delete what was superseded long enough ago; return the number."""
        ended = self._blobs.gate.delete_due(storage, keep_going=keep_going, pace=pace)
        self._blobs.collect(self._blobs.find_ids(ended.bases))
        return ended.objects

    def _use(
        self,
        encoded: Encoded,
        row: StoredObject,
        base: StoredObject | None,
        expansion: Expansion,
        report: CompactReport,
        pace: Callable[[int], None],
    ) -> None:
        self._note_tried(row, base, encoded.codec)
        if encoded.codec == Encoding.RAW or encoded.codec == row.encoding == Encoding.ZSTD:
            report.left += 1
            if row.encoding != encoded.codec:
                expansion.expand(row)  # it is moved away from the base that it has
            return
        with encoded.path.open("rb") as file:
            is_switched = self._switch.replace(
                row,
                file,
                head := read_head(file, row.digest),
                digest=encoded.digest,
                most_levels=self._settings.compact_depth,
                allow=self._is_allowed,
                pace=pace,
            )
        if not is_switched:
            report.skipped += 1
            return
        report.encoded += 1
        report.before_size += row.object_size
        report.after_size += head.stored

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


def _share(keep_going: Callable[[], None]) -> ProcessorShare:
    """Return the share of this thread. The process that encodes has the same one, and they take turns."""
    return ProcessorShare(SHARE, used=time.thread_time, waiting=keep_going)


def _paced(
    rate: int, keep_going: Callable[[], None], share: ProcessorShare
) -> tuple[Callable[[], None], Callable[[int], None]]:
    """Return what the work calls about once a second, and what it calls with the bytes that it has read."""

    def go_on() -> None:
        keep_going()
        share()

    return go_on, RateLimit(rate, keep_going=go_on)
