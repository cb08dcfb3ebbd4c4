"""Recovery: a lost database is made again from the storages, and what a restored one lacks is read back.

Its jobs write the journal, which a recovery reads. The keys, the cursors and the comparison with the database are the
nucleus' own: nothing is deleted in a storage that knows more than the database.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary, on_demand

if TYPE_CHECKING:
    from datetime import datetime

    from frepo_core.services.composition.core_services import CoreServices

    from .journal.journal import Journal, Written
    from .journal.objects import ObjectKind
    from .journal.seals import JournalSeals
    from .merge import Merge
    from .recovery import Recovery


class RecoveryServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def journal(self) -> "Journal":
        """Write the journal and the catalogues of all storages."""
        from .journal.journal import Journal

        core = self._core
        return Journal(core.database, core.backends, core.presence, self.seals, self.kinds, core.ingest.directory)

    @on_demand
    def kinds(self) -> "Sequence[ObjectKind]":
        """Return what is written and read back: the kinds of the nucleus, and those of features."""
        from .journal.objects import recovered_kinds

        return recovered_kinds(kind for feature in self._core.features for kind in feature.recovered())

    @on_demand
    def seals(self) -> "JournalSeals":
        """Show that a part is from this service."""
        from .journal.seals import JournalSeals

        return JournalSeals.of(self._core.settings)

    def recovery(
        self,
        storage: str,
        notes: Callable[[str], None],
        *,
        also: Sequence[str] = (),
        unverified: bool = False,
    ) -> "Recovery":
        """Return a recovery of the database from a storage, and `also` from others that have survived.

        `notes` is called with texts about the progress. With `unverified`, it also reads what has no seal of this
        service.
        """
        from .recovery import Recovery

        core = self._core
        seals = None if unverified else self.seals
        return Recovery(
            core.database,
            core.backends,
            seals,
            self.kinds,
            [storage, *also],
            core.ingest.directory,
            notes,
        )

    def merge(
        self,
        storage: str,
        notes: Callable[[str], None],
        *,
        at: "datetime | None" = None,
        unverified: bool = False,
    ) -> "Merge":
        """Return what reads back from a storage what the database has lost, or what was there at a time."""
        from .merge import Merge

        core = self._core
        return Merge(
            core.database,
            core.backends,
            core.trash,
            self.journal,
            None if unverified else self.seals,
            storage,
            self.kinds,
            core.ingest.directory,
            notes,
            at=at,
        )


def write_journal(services: "CoreServices", context: JobContext) -> Summary:
    """Write what has changed into each storage in use. If that is not enough for one, request the job `catalogue`."""
    from frepo_core.services.upkeep.engine.job_requests import store_request

    written = services.feature(RecoveryServices).journal.write_changes(context.check_lease)
    if written.needing:
        store_request(services.database, "catalogue", "system:journal", context.now)
    return _describe(written) | {"needing": list(written.needing)}


def write_catalogue(services: "CoreServices", context: JobContext) -> Summary:
    """Write a catalogue of all that the database knows into each storage in use."""
    return _describe(services.feature(RecoveryServices).journal.write_catalogue(context.check_lease, context.progress))


def _describe(written: "Written") -> dict[str, Any]:
    failed = {"failed": dict(written.failed)} if written.failed else {}
    return {"objects": written.objects, "size": written.size, "keys": written.keys, **failed}


FEATURE = Feature(
    services=RecoveryServices,
    jobs=[
        BuiltinJob(
            name="journal",
            schedule="every 1m",
            lane="short",
            summary="Write what has changed into each storage, for a recovery",
            work=write_journal,
        ),
        BuiltinJob(
            name="catalogue",
            schedule="30 1 * * *",
            lane="medium",
            summary="Write all that the database knows into each storage",
            work=write_catalogue,
        ),
    ],
)
