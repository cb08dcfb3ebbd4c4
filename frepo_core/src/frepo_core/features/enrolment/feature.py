"""Enrolment: hosts get their tokens with one-time codes, and a whole fleet is enrolled by one command."""

from collections.abc import Sequence
from typing import Any

from frepo_core.services.composition.features import Feature

from .services import EnrolmentServices


def _endpoints() -> Sequence[Any]:
    from .endpoints import ENDPOINTS

    return ENDPOINTS


def _recovered() -> Sequence[Any]:
    from frepo_core.db.models import EnrolmentCode, EnrolmentCollection

    from ..recovery.journal.objects import children, kind_of

    collections = {"collections": children(EnrolmentCollection, "code_id")}
    place = {"after": "deleted_collection", "named_by": "enrolment"}
    return [kind_of("enrolment_code", EnrolmentCode, "id", lists=collections, **place)]


FEATURE = Feature(services=EnrolmentServices, endpoints=_endpoints, recovered=_recovered)
