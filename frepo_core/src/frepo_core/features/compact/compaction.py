"""The job `compact`: encodes what the plans of the collections say, one content at a time, and undoes that."""

import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from frepo_core.db import Database, utc_now
from frepo_core.db.models import StoredObject
from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError
from frepo_core.plugins import LeaseLost
from frepo_core.services.base.rate_limit import RateLimit
from frepo_core.services.content.blobs.lifecycle import Blobs
from frepo_core.settings import Settings

from ..preview.preview import Previews
from .compact_figures import note_figures
from .compact_report import CompactReport
from .content_encoder import ContentEncoder
from .encoder_process import SHARE
from .encoding_switch import EncodingSwitch
from .encodings.libraries import require_libraries
from .expansion import Expansion
from .former_storages import leave_former_storages
from .likeness import Sketch
from .planned_content import Encoding, Step
from .plans import Plans
from .processor_share import ProcessorShare
from .sketches import note_sketch, telling
from .step_work import StepWork
from .uses import read_freedom

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
            work = StepWork(self._database, self._blobs, self._switch, self._settings, encoder, expansion, report, pace)
            steps = self._plans.steps(report.note_failure, go_on, partial(self._sketch, encoder, busy))
            for survey, step in steps:
                if (now := utc_now()).hour in busy:
                    report.wait(busy, now)
                    continue
                self._let_restore(keep_going)
                work.do(survey, step)
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

    def _end_superseded(self, storage: str, keep_going: Callable[[], None], pace: Callable[[int], None]) -> int:
        """Delete what was superseded long enough ago; return the number."""
        ended = self._blobs.gate.delete_due(storage, keep_going=keep_going, pace=pace)
        self._blobs.collect(self._blobs.find_ids(ended.bases))
        return ended.objects


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
