"""The command that says how the backups of a collection are."""

import argparse
from typing import Any

from ...columns import Expected, Moment, Size, Words, held_fields
from ...tables import Record, ShowCommand
from .exit_statuses import StatusCommand
from .versions import problems_of


class Status(StatusCommand, ShowCommand):
    """Say how the backups of a collection are, and why.

    `states` are all that apply, the worst first: damaged, overdue, failed, full, problem, suspicious, late (within the
    grace), new, ok. The exit status is that of a Nagios plug-in: 2 for the first five, 1 for suspicious and late, 0 for
    new and ok, 3 if it cannot say.
    """

    examples = ("frepo backup:status shop.sql",)

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("id", help="the id or the name of the collection")

    def take_action(self, arguments: argparse.Namespace) -> Record:
        """Return the state, and what it follows from."""
        from frepo_core.services.backups.collections.states import severity_of

        services = self.services()
        found = services.collection_pages.details(services.collections.find(arguments.id))
        record, newest, good = found.record, found.newest, found.newest_good
        run = record.last_run
        state = services.collection_states.read([record.id])[record.id]
        checks = services.version_checks.outcomes(record.id, newest.number) if newest else []
        same = services.same_contents.find(newest) if newest else []
        suspicious = [version for version in services.versions.list(record.id) if version.is_suspicious]
        found_wrong = services.version_checks.outcomes(record.id, suspicious[-1].number) if suspicious else []
        self.severity = severity_of(state.state)
        fields: dict[str, Any] = {
            "id": record.id,
            "name": record.filename,
            "state": self.word(state.state.value),
            "states": Words([one.value for one in state.states]),
            "since": Moment(state.since),
            "reason": state.reason,
            "expected_every": Expected(record.expected_every or ""),
            "due_at": Moment(record.due_at),
            "overdue_at": Moment(record.overdue_at),
            "last_version": f"v{newest.number}" if newest else "",
            "last_version_at": Moment(newest.created_at if newest else None),
            "last_version_size": Size(newest.file.blob.size if newest else 0),
            "last_version_verdict": self.word(newest.verdict.value if newest else ""),
            "last_version_checks": ", ".join(f"{check.name}: {check.outcome}" for check in checks),
            "unchanged_nights": record.unchanged_nights,
            "same_content_in": Words([f"{one.name} v{one.number}" for one in same]),
            "newest_good": f"v{good.number}" if good else "",
            "newest_good_at": Moment(good.created_at if good else None),
            "restore_tested_at": Moment(record.restore_tested_at),
            "restore_tried_at": Moment(record.restore_tried_at),
            "restore_outcome": self.word(record.restore_outcome or ""),
            "last_run": self.word(run.outcome if run else ""),
            "last_run_at": Moment(run.at if run else None),
            "last_run_reason": run.reason if run else "",
            "versions": record.versions_count,
            "stored_size": Size(record.stored_size),
            "pinned": record.pinned_count,
            **held_fields(record.hold),
            "quarantined": record.quarantined_count,
            "suspicious": Words([f"v{version.number}" for version in suspicious]),
            "suspicious_because": problems_of(suspicious[-1], found_wrong) if suspicious else "",
        }
        return tuple(fields), tuple(fields.values())
