"""The headers Idempotency-Key and If-Match of uploads."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict

from frepo_core.domain.signatures import repr_digest
from frepo_core.errors import FieldsError
from frepo_core.services.base.idempotency import IdempotentUpload, RecordedAnswer

from ..base.endpoint import Answer
from ..base.request import FrepoRequest

Added = TypeVar("Added")

_VERSION = re.compile(r'v([0-9]{1,18})|"v([0-9]{1,18})"')
# The names for `Endpoint.headers`.
IDEMPOTENCY_KEY, IF_MATCH, CONTENT_ENCODING = "Idempotency-Key", "If-Match", "Content-Encoding"

_KEY = re.compile(r"[\x21-\x7e]{1,255}")


def idempotency_of(
    request: FrepoRequest,
    scope: str,
    serialize: Callable[[Added], Mapping[str, Any]],
    earlier_scope: str | None = None,
) -> IdempotentUpload[Added] | None:
    """Return the upload's Idempotency-Key with its scopes, None without the header. Raises `FieldsError`."""
    key = request.headers.get(IDEMPOTENCY_KEY)
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise FieldsError({IDEMPOTENCY_KEY: ["Expected 1 to 255 visible ASCII characters without spaces"]})
    return IdempotentUpload(key=key, scope=scope, serialize=serialize, earlier_scope=earlier_scope)


class RepeatedReply(BaseModel):
    """A recorded answer. An earlier version of frepo may have written it, with other fields."""

    model_config = ConfigDict(extra="allow", frozen=True)


def recorded_reply(earlier: RecordedAnswer) -> Answer:
    """Answer what an upload with the same key was answered, with `removed` if that was deleted or evicted since."""
    headers = {"Repr-Digest": repr_digest(earlier.digest)}
    return Answer(
        status=earlier.answer["http_code"],
        body=RepeatedReply(**earlier.answer, **removed_key(earlier)),
        headers=headers,
    )


def removed_key(earlier: RecordedAnswer) -> dict[str, bool]:
    """Return the key that says in a repeated answer that its file or version was deleted or evicted since."""
    return {"removed": True} if earlier.is_removed else {}


def last_version_of(request: FrepoRequest) -> int | None:
    """Return N of `If-Match: v<N>`, None without the header. Raises `FieldsError`."""
    value = request.headers.get(IF_MATCH)
    if value is None:
        return None
    match = _VERSION.fullmatch(value.strip())
    if not match:
        raise FieldsError({IF_MATCH: ["Expected v<number of the last version>, or v0 if there is none"]})
    return int(match[1] or match[2])
