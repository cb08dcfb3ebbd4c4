"""The command that copies everything again to a storage for second copies."""

import argparse
import time
from typing import TYPE_CHECKING, Any

from frepo_core.cli.columns import Size
from frepo_core.cli.progress import ProgressBar
from frepo_core.cli.tables import StorageCommand
from frepo_core.domain.sizes import parse_size
from frepo_core.errors import FieldsError

from ..feature import SecondCopyServices

if TYPE_CHECKING:
    from frepo_core.plugins import JobContext
    from frepo_core.services.composition.container import Services
    from frepo_core.services.upkeep.engine.job_runner import RunResult

    from ..mirror import Mirror

BUSY_SECONDS = 2.0


class Resilver(StorageCommand):
    """Copy everything to a storage for second copies that it lacks, the newest first; may be stopped and run again."""

    examples = ("frepo storage:resilver --to offsite",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--to", dest="target", required=True, metavar="NAME", help="e.g. local")
        parser.add_argument("--check", action="store_true", help="look first whether the earlier copies still exist")
        parser.add_argument("--rate", metavar="SIZE", help="bytes a second; 0: no limit; default: mirror.rate")

    def work(self, arguments: argparse.Namespace) -> tuple[dict[str, Any], bool]:
        """Copy until nothing is left, or the storage fails."""
        services, target, rate = self.services(), arguments.target, _rate(arguments.rate)
        services.backends.check_name(target)
        if target == services.backends.current:
            raise FieldsError({"to": ["is the first storage; second copies are in another one"]})
        mirror = services.feature(SecondCopyServices).mirror
        mirror.require_works(target)
        result = _run(services, target, rate, checks=arguments.check)
        left = mirror.lack(target)
        rows = dict(result.summary or {})
        if "size" in rows:
            rows["size"] = Size(rows["size"])
        rows |= {"left": left.copies, "left_size": Size(left.size)}
        rows |= {"error": result.error} if result.error else {}
        if services.backends.mirror != target:
            self.tell_people(f"New contents get no copy in {target!r} until you set mirror = {target}.")
        return rows, bool(result.error or left.copies)


def _run(services: "Services", target: str, rate: int | None, *, checks: bool) -> "RunResult":
    """Run it in the place of the job `mirror`; show what a run of the service does until then."""
    from frepo_core.services.events.actors import console_actor
    from frepo_core.services.upkeep.engine.jobs import JobBusyError

    by = console_actor()
    with ProgressBar("resilver") as bar:
        mirror = services.feature(SecondCopyServices).mirror
        shown = _Shown(mirror, target, bar)

        def work(context: "JobContext") -> dict[str, Any]:
            def keep_going() -> None:
                context.check_lease()
                shown.update()

            missing = mirror.find_missing(target, keep_going=keep_going) if checks else 0
            report = mirror.resilver(target, rate=rate, keep_going=keep_going, progress=context.progress, by=by)
            summary = {"missing": missing, "copied": report.copied, "size": report.size, "failed": report.failed}
            return summary | ({"problem": report.problem} if report.problem else {})

        while True:
            try:
                return services.jobs.run("mirror", cause=by.name, wait=BUSY_SECONDS, work=work)
            except JobBusyError:
                shown.update()


class _Shown:
    """The progress: how much the storage still lacks."""

    def __init__(self, mirror: "Mirror", target: str, bar: ProgressBar) -> None:
        self._mirror = mirror
        self._target = target
        self._bar = bar
        self._first = self._mirror.lack(target)
        self._looked = time.monotonic()
        self._size = 0

    def update(self) -> None:
        """Ask the database, at most each two seconds."""
        if time.monotonic() - self._looked < BUSY_SECONDS:
            return
        self._looked = time.monotonic()
        left = self._mirror.lack(self._target)
        if left.copies > self._first.copies:  # the records of older contents were added meanwhile
            self._first = left
        done, size = self._first.copies - left.copies, self._first.size - left.size
        if done > 0:
            self._bar(done=done, total=self._first.copies, size=size - self._size, size_left=left.size)
            self._size = size


def _rate(text: str | None) -> int | None:
    try:
        return None if text is None else parse_size(text)
    except ValueError as error:
        raise FieldsError({"rate": [str(error)]}) from None
