"""Enrolment: hosts get their tokens with one-time codes, and a whole fleet is enrolled by one command."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature

from .services import EnrolmentServices


def _endpoints() -> Sequence[Any]:
    from .endpoints import ENDPOINTS

    return ENDPOINTS


ENROLMENT = Feature(services=EnrolmentServices, endpoints=_endpoints)
