"""Which versions a collection will keep: a simulation with its own strategy, for people, and for compact storage."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature

from .services import PreviewServices


def _endpoints() -> Sequence[Any]:
    from .endpoints import ENDPOINTS

    return ENDPOINTS


PREVIEW = Feature(services=PreviewServices, endpoints=_endpoints)
