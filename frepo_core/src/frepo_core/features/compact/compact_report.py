"""What a run of the job `compact` has done."""

import logging
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from frepo_core.domain.sizes import readable_size
from frepo_core.errors import FrepoError

log = logging.getLogger(__name__)

PROBLEMS = 10


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
        self.waits_until: datetime | None = None

    def wait(self, busy: frozenset[int], now: datetime) -> None:
        """Count a content that waits for the first hour (UTC) that is not busy."""
        self.waiting += 1
        hours = (now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=after) for after in range(1, 25))
        self.waits_until = next((hour for hour in hours if hour.hour not in busy), None)

    def line(self) -> str:
        """Return a line about the progress. What is stored raw again takes more."""
        saved = self.before_size - self.after_size
        return f"{self.encoded} contents encoded, {readable_size(abs(saved))} {'saved' if saved >= 0 else 'more'}"

    def summary(self) -> dict[str, Any]:
        """Return what the job tells; `problem` if a content could not be encoded, `waits` if some wait."""
        found = asdict(self) | {"examples": self.problems}
        if self.waits_until is not None:
            found["waits"] = (
                f"until {self.waits_until:%H:%M} UTC, because uploads usually come at this hour; `frepo compact` does "
                "not wait"
            )
        if self.failed:
            found["problem"] = f"{self.failed} could not be encoded, and will be tried again: {self.problems[0]}"
        return found

    def note_failure(self, what: str, error: FrepoError) -> None:
        """Count a failure. Nothing was changed, and the next run tries it again."""
        self.failed += 1
        if len(self.problems) < PROBLEMS:
            self.problems.append(f"{what}: {error.message}")
        log.warning("not compacted: %s: %s", what, error.message)
