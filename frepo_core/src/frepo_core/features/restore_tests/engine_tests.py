"""A restore test with an engine: it restores in a box, and the copy is compared with what is asserted."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from frepo_core.db import Database
from frepo_core.db.models import Collection, Run
from frepo_core.domain.error_lines import find_reason
from frepo_core.domain.sizes import readable_size
from frepo_core.errors import ConfigurationError
from frepo_core.services.backups.versions.version_checks import BROKEN, GOOD, UNKNOWN, Outcome
from frepo_core.services.base.plugin_failures import storable
from frepo_core.services.base.records import CollectionRecord, VersionRecord
from frepo_core.services.events.masking import Mask
from frepo_core.settings import Settings

from .assertions import Asserted, judge_copy
from .box.errors import NoSandboxError
from .box.messages import BROKEN as DOES_NOT_LOAD
from .box.messages import RESTORED, UNDECIDED, Limits, Order, meets_limit
from .box.session import BoxResult, restore_in_box
from .choices import Choice
from .engine_names import Chosen, EngineNames
from .restore_command import Readable
from .results import RestoreResult, unknown

NAMED = 10
SUSPICIOUS: Outcome = "suspicious"


class EngineTests:
    """Tests versions with engines."""

    def __init__(self, settings: Settings, database: Database, names: EngineNames, mask: Mask) -> None:
        self._settings = settings
        self._database = database
        self._names = names
        self._mask = mask

    def test(self, engine: str, choice: Choice) -> "EngineTest":
        """Return the test with an engine of the settings."""
        return EngineTest(self._settings, self._database, self._names, self._mask, engine, choice)


class EngineTest:
    """Tests one version."""

    def __init__(
        self, settings: Settings, database: Database, names: EngineNames, mask: Mask, engine: str, choice: Choice
    ) -> None:
        self._settings = settings
        self._database = database
        self._names = names
        self._mask = mask
        self._engine = engine
        self._choice = choice

    def restore(
        self,
        content: Readable,
        collection: CollectionRecord,
        version: VersionRecord,
        timeout: timedelta,
        keep_going: Callable[[], None],
    ) -> RestoreResult:
        """Restore in a box, and judge the copy. Raises what `content.read` and `keep_going` raise."""
        if self._choice.unreadable:
            names = _named(tuple(self._choice.unreadable))
            result = unknown(version, f"assertions of the collection cannot be read: set them again: {names}")
            return replace(result, details={"engine": self._engine})
        try:
            order = self._order(self._names.find(self._engine), collection, timeout)
            sandbox, folder = self._settings.restore_tests_sandbox, self._settings.temp_directory
            done = restore_in_box(sandbox, folder, order, content, keep_going)
        except (NoSandboxError, ConfigurationError) as error:
            result = unknown(version, error.message)
            return replace(result, is_started=False, details={"engine": self._engine})
        return self._result(version, done)

    def _order(self, chosen: Chosen, collection: CollectionRecord, timeout: timedelta) -> Order:
        settings = self._settings
        limits = Limits(
            seconds=timeout.total_seconds(),
            memory=settings.restore_tests_memory,
            disk=settings.restore_tests_disk,
            processes=settings.restore_tests_processes,
        )
        return Order(
            plugin=chosen.plugin,
            engine=chosen.engine.name,
            version=chosen.version,
            name=collection.filename,
            limits=limits,
            command=shlex.split(settings.restore_tests_command) if chosen.engine.name == "command" else (),
            questions={name: one.question for name, one in self._choice.assertions.items()},
        )

    def _result(self, version: VersionRecord, done: BoxResult) -> RestoreResult:
        outcome, message, details = self._judge(version, done)
        output = self._mask(storable(done.output.strip()))
        why = self._mask(storable(done.error)) or find_reason(output)
        is_said = done.report.outcome == RESTORED or not why or why in message or done.is_ended
        return RestoreResult(
            version=version,
            outcome=outcome,
            message=self._mask(storable(message if is_said else f"{message}: {why}")),
            status=None,
            size=done.size,
            seconds=done.seconds,
            output=output[-1000:],
            details={"engine": self._engine, **details},
            tables=done.report.tables if done.report.outcome == RESTORED else None,
        )

    def _judge(self, version: VersionRecord, done: BoxResult) -> tuple[Outcome, str, dict[str, Any]]:
        report, size = done.report, version.file.blob.size
        if report.outcome == DOES_NOT_LOAD:
            is_limit = meets_limit(done.error or done.output)
            return (UNKNOWN if is_limit else BROKEN), f"it does not load: {report.message}", {}
        if report.outcome == UNDECIDED:
            return UNKNOWN, report.message, {}
        if done.size < size:
            return UNKNOWN, f"the box has reported before it had read all {readable_size(size)}", {}
        asserted = judge_copy(
            report,
            self._choice.assertions,
            arrived=version.created_at,
            measured=self._measured(version),
            filled=self._choice.filled,
        )
        outcome, message = self._conclude(asserted, size)
        note = f" ({report.note})" if report.note else ""
        numbers = {name: report.numbers[name] for name in self._choice.assertions if name in report.numbers}
        return outcome, message + note, {"numbers": numbers, "tables": len(report.tables)}

    def _conclude(self, asserted: Asserted, size: int) -> tuple[Outcome, str]:
        if asserted.failed:
            return BROKEN, f"restored, but not as asserted: {_named(asserted.failed)}"
        if asserted.emptied:
            text = "restored, but these were not empty in the last good restore, and are now"
            return SUSPICIOUS, f"{text}: {_named(asserted.emptied, ', ')}"
        if asserted.unknown:
            return UNKNOWN, f"restored, but not all assertions could be decided: {_named(asserted.unknown)}"
        count = len(self._choice.assertions)
        proven = f"; {count} assertions hold" if count else ""
        return GOOD, f"restored by {self._engine} from all {readable_size(size)}{proven}"

    def _measured(self, version: VersionRecord) -> Mapping[str, float]:
        """Return what the client that sent the version has measured at the source, by name."""
        query = (
            select(Run.measured)
            .join(Collection, Collection.incarnation == Run.incarnation)
            .where(Collection.id == version.collection_id, Run.version_number == version.number)
            .where(Run.measured.is_not(None))
            .order_by(Run.id.desc())
            .limit(1)
        )
        rows = self._database.fetch_rows(query)
        return rows[0].measured if rows else {}


def _named(what: tuple[str, ...], between: str = "; ") -> str:
    return between.join(what[:NAMED]) + (f"{between}..." if len(what) > NAMED else "")
