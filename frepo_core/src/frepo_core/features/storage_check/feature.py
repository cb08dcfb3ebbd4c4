"""The check of the storages: what each of them promises and can decode, and what its fire would cost."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature


def _endpoints() -> Sequence[Any]:
    from .endpoints import ENDPOINTS

    return ENDPOINTS


FEATURE = Feature(endpoints=_endpoints)
