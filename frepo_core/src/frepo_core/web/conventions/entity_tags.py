"""ETags of single resources, and If-Match on their changes (RFC 9110, 8.8.3 and 13.1.1).

The ETag follows what clients can edit, not counters and times that change by themselves: a client that has read a
collection can edit it although a backup has arrived since. So it is no validator for caches, and GET ignores
If-None-Match.
"""

import hashlib
import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel
from pyramid.httpexceptions import HTTPPreconditionFailed

from frepo_core.errors import FieldsError

from ..base.request import FrepoRequest

IF_MATCH = "If-Match"
Record = TypeVar("Record")


def entity_tag(reply: BaseModel, editable: type[BaseModel], *more: object) -> str:
    """Return the ETag of a resource, without quotes: a digest of those of its values that the patch `editable` names.

    `more` are further values that a patch changes and that the answer does not show, such as a password's hash.
    """
    shown = reply.model_dump(mode="json")
    values: list[Any] = [shown.get(name) for name in editable.model_fields]
    text = json.dumps([*values, *more], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def if_match(request: FrepoRequest, tag_of: Callable[[Record], str]) -> Callable[[Record], None] | None:
    """Return the precondition of a change for the service, None without If-Match.

    The service calls it in its transaction with the record before the change. It raises `HTTPPreconditionFailed` (412).
    Raises `FieldsError` for an empty header: a client that lost the ETag must not overwrite the changes of others.
    """
    if IF_MATCH not in request.headers:
        return None
    if not request.headers[IF_MATCH].strip():
        raise FieldsError({IF_MATCH: ["Expected an ETag in quotes, or *"]})

    def require_match(record: Record) -> None:
        if tag_of(record) not in request.if_match:
            raise HTTPPreconditionFailed("The resource was changed since this ETag: read it again")

    return require_match
