"""How plug-ins delete versions that nobody needs any more."""

from collections.abc import Collection
from typing import Protocol

from frepo_core.domain.identity import Identity


class DeletingService(Protocol):
    """What plug-ins can delete. Raises `ReadOnlyError` in read-only mode."""

    def delete_versions(
        self, collection_id: str, numbers: Collection[int], *, by: Identity | None, reason: str, trash: bool = True
    ) -> int:
        """Delete at most 1000 versions of a collection, by number, in one transaction; return how many that were.

        Those that are pinned, locked, or younger than the minimal retention stay, and so do the others if a policy
        does not allow one. They can be restored from the trash, unless `trash` is False. `by` is a client, which needs
        `version.delete`, and `trash.end` to delete for good; None is the plug-in itself, as the events say then. They
        have the `reason`, a sentence of at most 500 characters.

        Raises `NotFoundError` without such a collection, `AccessDeniedError`, the errors of a policy, and `ValueError`.
        """
