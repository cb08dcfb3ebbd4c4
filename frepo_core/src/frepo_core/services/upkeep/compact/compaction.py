"""The job `compact`: encodes what the plans of the collections say, one content at a time, and undoes that."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Blob
from frepo_core.domain.backups.compaction import Encoding, Freedom, Step
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import FrepoError
from frepo_core.plugins import LeaseLost
from frepo_core.settings import Settings

from ...backups.preview.preview import Previews
from ...base.processor_share import ProcessorShare
from ...base.rate_limit import RateLimit
from ...content.blobs.lifecycle import Blobs
from ...content.chains.encoding_switch import EncodingSwitch
from ...content.encodings.format import read_head
from ...content.encodings.libraries import require_libraries
from .content_encoder import ContentEncoder, Encoded
from .encoder_process import SHARE
from .figures import note_figures
from .plans import Plans
from .survey import Survey
from .uses import freedom_of, read_heads, read_users

log = logging.getLogger(__name__)

PAGE = 100
PROBLEMS = 10
SAMPLES = 20


@dataclass(kw_only=True)
class CompactReport:
    """What a run has done.

    :param encoded: the number of contents that were encoded, or got another base
    :param expanded: the number of contents that were stored raw again
    :param left: the number of contents that were tried and save less than 20 %
    :param skipped: the number of contents that were changed meanwhile: the next run tries them again
    :param before_size: the bytes of the contents that were encoded or expanded, as they were stored
    :param after_size: their bytes now
    :param deleted: the number of former objects that were deleted, two days after they were replaced
    :param failed: the number of contents that failed, and `problems` the first ten
    :param waiting: the number of contents that wait, because uploads usually come at this hour
    """

    encoded: int = 0
    expanded: int = 0
    left: int = 0
    skipped: int = 0
    before_size: int = 0
    after_size: int = 0
    deleted: int = 0
    failed: int = 0
    waiting: int = 0

    def __post_init__(self) -> None:
        self.problems: list[str] = []

    def note_failure(self, what: str, error: FrepoError) -> None:
        """Count a failure. Nothing was changed, and the next run tries it again."""
        self.failed += 1
        if len(self.problems) < PROBLEMS:
            self.problems.append(f"{what}: {error.message}")
        log.warning("not compacted: %s: %s", what, error.message)


@dataclass(frozen=True, kw_only=True)
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
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._switch = switch
        self._plans = Plans(database, previews, settings)
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
        # The process that encodes has the same share, and they take turns.
        share = ProcessorShare(SHARE, used=time.thread_time, waiting=keep_going)

        def go_on() -> None:
            keep_going()
            share()

        pace = RateLimit(self._settings.compact_rate, keep_going=go_on)
        self._expand_adopted(report, pace)
        busy = self._plans.busy_hours() if avoids_busy_hours else frozenset()
        with self._encoder(self._settings.compact_rate, go_on, pace) as encoder:
            for survey, step in self._plans.steps(report.note_failure, go_on):
                if utc_now().hour in busy:
                    report.waiting += 1
                    continue
                self._do(survey, step, encoder, report, pace)
                saved = readable_size(report.before_size - report.after_size)
                progress(f"{report.encoded} contents encoded, {saved} saved")
        for storage in self._blobs.backends.configured:
            report.deleted += self._switch.delete_replaced(storage, keep_going=keep_going)
        note_figures(self._database, report.failed + report.skipped + report.waiting)
        share()
        return report

    def forecast(self, *, keep_going: Callable[[], None], progress: Callable[[str], None] = lambda _: None) -> Forecast:
        """Say what a run would do now, without storing anything.

        One content of each collection is encoded to see what that saves, of at most 20 collections.
        """
        require_libraries()
        found, tried, samples = dict[str, list[tuple[Blob, Step]]](), 0, 0
        for survey, step in self._plans.steps(CompactReport().note_failure, keep_going):
            found.setdefault(survey.collection_id, []).append((survey.rows[step.content_id], step))
        encode = [
            steps
            for all_steps in found.values()
            if (steps := [one for one in all_steps if one[1].encoding != Encoding.RAW])
        ]
        with self._encoder(0, keep_going, RateLimit(0, keep_going=keep_going)) as encoder:
            for (row, step), *_ in encode[:SAMPLES]:
                progress(f"{samples} of {min(len(encode), SAMPLES)} samples")
                with encoder.encoded(row, self._read(step)[1]) as encoded:
                    is_left = encoded.codec == Encoding.RAW
                    samples += row.size if is_left else encoded.path.stat().st_size
                tried += row.size
        size = sum(row.object_size for steps in encode for row, _ in steps)
        share = 1 - samples / tried if tried else 0.0
        return Forecast(contents=sum(len(steps) for steps in encode), size=size, saved_size=round(size * share))

    def _encoder(self, rate: int, keep_going: Callable[[], None], pace: Callable[[int], None]) -> ContentEncoder:
        return ContentEncoder(
            self._database, self._blobs.backends, self._directory, rate=rate, keep_going=keep_going, pace=pace
        )

    def expand_all(
        self, *, keep_going: Callable[[], None], progress: Callable[[str], None] = lambda _: None
    ) -> CompactReport:
        """Store all contents raw again. It can be stopped at any time, and repeated.

        First those of which nothing depends, so that each is read through as few others as possible afterwards.
        """
        report = CompactReport()
        pace = RateLimit(0, keep_going=keep_going)
        after = 0
        while True:
            query = select(Blob).where(Blob.encoding != Encoding.RAW, Blob.id > after).order_by(Blob.id).limit(PAGE)
            with self._database.reading() as session:
                rows = session.scalars(query).all()
            if not rows:
                note_figures(self._database, 0)
                return report
            for row in rows:
                self._expand(row, report, pace)
                progress(f"{report.expanded} contents expanded")
            after = rows[-1].id

    def _expand_adopted(self, report: CompactReport, pace: Callable[[int], None]) -> None:
        """Store those contents raw that were uploaded again, or that something waits for."""
        query = select(Blob).where(Blob.expand_since.is_not(None)).order_by(Blob.expand_since)
        with self._database.reading() as session:
            rows = session.scalars(query).all()
        for row in rows:
            self._expand(row, report, pace)

    def _expand(self, row: Blob, report: CompactReport, pace: Callable[[int], None]) -> None:
        try:
            if self._switch.expand(row, pace=pace):
                report.expanded += 1
                report.before_size += row.object_size
                report.after_size += row.size
                self._collect_base(row)
        except LeaseLost:
            raise
        except FrepoError as error:
            report.note_failure(f"content {row.digest}", error)

    def _do(
        self,
        survey: Survey,
        step: Step,
        encoder: ContentEncoder,
        report: CompactReport,
        pace: Callable[[int], None],
    ) -> None:
        row, base = self._read(step)
        if row is None or row.key != survey.rows[row.id].key or (step.base_id is not None and base is None):
            report.skipped += 1
            return
        if step.encoding is Encoding.RAW:
            self._expand(row, report, pace)
            return
        try:
            with encoder.encoded(row, base) as encoded:
                self._use(encoded, row, base, report, pace)
        except LeaseLost:
            raise
        except FrepoError as error:
            report.note_failure(f"content {row.digest}", error)

    def _read(self, step: Step) -> tuple[Blob | None, Blob | None]:
        with self._database.reading() as session:
            base = session.get(Blob, step.base_id) if step.base_id is not None else None
            return session.get(Blob, step.content_id), base

    def _use(
        self, encoded: Encoded, row: Blob, base: Blob | None, report: CompactReport, pace: Callable[[int], None]
    ) -> None:
        if encoded.codec == Encoding.RAW or encoded.codec == row.encoding == Encoding.ZSTD:
            self._note_tried(row, encoded.codec, report, pace)
            return
        base = base if encoded.codec == Encoding.DELTA else None
        with encoded.path.open("rb") as file:
            is_switched = self._switch.replace(
                row,
                file,
                head := read_head(file, row.digest),
                digest=encoded.digest,
                base_id=base.id if base is not None else None,
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
        self._collect_base(row)

    def _note_tried(self, row: Blob, codec: str, report: CompactReport, pace: Callable[[int], None]) -> None:
        """Leave a content as it is for good, because it is compressed or encrypted, or differs too much from others.

        One that has a base is moved away from it.
        """
        self._database.execute(update(Blob).where(Blob.id == row.id).values(tried_at=utc_now()))
        report.left += 1
        if row.encoding != codec:
            self._expand(row, report, pace)

    def _collect_base(self, row: Blob) -> None:
        """Delete the former base of a content if nothing uses it any more."""
        if row.base_id is not None:
            self._blobs.collect([row.base_id])

    def _is_allowed(self, session: Session, blob: Blob, base: Blob | None) -> bool:
        """Return whether a content may still be encoded, by what uses it now that its row is locked."""
        now = utc_now()
        users = read_users(session, [blob.id], now)[blob.id]
        heads = read_heads(session, users.collections)
        freedom = freedom_of(blob, users, heads, self._settings, now)
        return freedom is Freedom.DELTA or (freedom is Freedom.ZSTD and base is None)
