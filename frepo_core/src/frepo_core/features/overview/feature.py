"""The overview: figures about the whole service, their history, badges, and the command `frepo status`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from frepo_core.plugins import JobContext
from frepo_core.services.composition.features import BuiltinJob, Feature, Summary

from .services import OverviewServices

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices


def sample(services: "CoreServices", context: JobContext) -> Summary:
    """Record the size of each collection and of the service."""
    from .samples import take_samples

    return take_samples(services.database, services.backends, now=context.now)


def _endpoints() -> Sequence[Any]:
    from .v1 import badges, history, overview, space

    return [endpoint for module in (overview, badges, history, space) for endpoint in module.ENDPOINTS]


def _recovered() -> Sequence[Any]:
    from frepo_core.db.models import Sample

    from ..recovery.journal.objects import kind_of

    return [kind_of("sample", Sample, "id", is_journaled=False, after="run")]


FEATURE = Feature(
    services=OverviewServices,
    jobs=[
        BuiltinJob(
            name="samples", schedule="5 0 * * *", lane="short", summary="Record the sizes of collections", work=sample
        ),
    ],
    endpoints=_endpoints,
    recovered=_recovered,
)
