"""Enrolment: hosts get their tokens with one-time codes, and a whole fleet is enrolled by one command."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.services.composition.features import Feature, on_demand

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices

    from .codes import EnrolmentCodes
    from .hosts import Hosts
    from .redemption import EnrolmentRedemption


class EnrolmentServices:
    """The services of this feature."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    @on_demand
    def codes(self) -> "EnrolmentCodes":
        """Make, list and revoke one-time codes."""
        from .codes import EnrolmentCodes

        return EnrolmentCodes(self._core.database, self._core.settings)

    @on_demand
    def redemption(self) -> "EnrolmentRedemption":
        """Give a host its token for a code."""
        from .redemption import EnrolmentRedemption

        core = self._core
        return EnrolmentRedemption(core.database, core.settings, core.token_inventory, core.passwords.attempts)

    @on_demand
    def hosts(self) -> "Hosts":
        """Enrol the hosts of a fleet."""
        from .hosts import Hosts

        core = self._core
        return Hosts(core.database, core.collections, core.collections_with_tokens, self.codes)


def _recovered() -> Sequence[Any]:
    from frepo_core.db.models import EnrolmentCode, EnrolmentCollection

    from ..recovery.journal.objects import children, kind_of

    collections = {"collections": children(EnrolmentCollection, "code_id")}
    place = {"after": "deleted_collection", "named_by": "enrolment"}
    return [kind_of("enrolment_code", EnrolmentCode, "id", lists=collections, **place)]


FEATURE = Feature(
    services=EnrolmentServices, endpoints=["frepo_core.features.enrolment.endpoints"], recovered=_recovered
)
