"""The modules with the endpoints of the second API. A new module is added here, and nowhere else.

Where a route with a placeholder and one with a word match the same path, the one with the word comes first.
"""

from collections.abc import Iterable
from importlib import import_module

from frepo_core.services.composition.features import Feature

from ..base.endpoint import Endpoint
from . import about
from .collections import allowed_tokens, checks, collections, deleted_collections, holds, pins, runs, trash, versions
from .files import files
from .tokens import tokens
from .upkeep import events, health, jobs

MODULES = (
    about,
    collections,
    versions,
    pins,
    holds,
    checks,
    runs,
    allowed_tokens,
    trash,
    deleted_collections,
    files,
    tokens,
    events,
    jobs,
    health,
)


def v1_endpoints(features: Iterable[Feature]) -> list[Endpoint]:
    """Return all endpoints below `/api/v1`, also those of the features."""
    modules = [*MODULES, *(import_module(name) for feature in features for name in feature.endpoints)]
    return [endpoint for module in modules for endpoint in module.ENDPOINTS]
