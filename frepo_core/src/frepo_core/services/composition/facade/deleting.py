"""The part of the facade that changes collections: it implements `DeletingService` and `ReportingService`."""

from collections.abc import Collection as Group

from frepo_core.domain.identity import Actor, Identity
from frepo_core.domain.permissions import allows
from frepo_core.errors import AccessDeniedError

from ...base.plugin_failures import storable
from .reading import MAX_LIMIT, ReadingFacade

MAX_REASON = 500


class DeletingFacade(ReadingFacade):
    """Deletes by the rules of the endpoint that deletes one version."""

    def delete_versions(
        self, collection_id: str, numbers: Group[int], *, by: Identity | None, reason: str, trash: bool = True
    ) -> int:
        from ...backups.versions.bulk_deletion import BulkDeletion  # not every command deletes versions

        if len(numbers) > MAX_LIMIT or not 1 <= len(reason) <= MAX_REASON:
            raise ValueError(f"Give at most {MAX_LIMIT} numbers, and a reason of at most {MAX_REASON} characters")
        services = self._writable() if by is None else self._services_for(by)
        if by is None:
            collection = self._find(collection_id)
        else:
            collection = self._collection_for(collection_id, "version.delete", by)
            if not trash and not allows("trash.end", by, listed=True):
                raise AccessDeniedError("The token may not delete for good: trash.end is needed")
        deletion = BulkDeletion(services.database, services.blobs, services.policies, services.settings.trash_keep)
        actor = by or Actor(name=f"system:{self._plugin}")
        return deletion.delete(collection.id, {*numbers}, by=actor, reason=storable(reason), to_trash=trash)

    def report_problem(self, collection_id: str, name: str, message: str | None) -> bool:
        """See `ReportingService.report_problem`."""
        from ...backups.collections.problem_reports import report_problem  # few plug-ins report problems

        services = self._writable()
        collection = self._find(collection_id)
        text = None if message is None else storable(message)
        by = Actor(name=f"system:{self._plugin}")
        return report_problem(services.database, collection.id, self._plugin, name, text, by=by)
