"""Which versions a collection will keep: a simulation with its own strategy, for people, and for compact storage."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature

from .services import PreviewServices


def _endpoints() -> Sequence[Any]:
    from . import endpoints, expected_times

    return [*endpoints.ENDPOINTS, *expected_times.ENDPOINTS]


FEATURE = Feature(services=PreviewServices, endpoints=_endpoints)
