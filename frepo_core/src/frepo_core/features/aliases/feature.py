"""Aliases in the database. Downloads of the nucleus find them, as those of the YAML file."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature

from .services import AliasServices


def _endpoints() -> Sequence[Any]:
    from .endpoints import ENDPOINTS

    return ENDPOINTS


FEATURE = Feature(services=AliasServices, endpoints=_endpoints)
