"""The answer to an edit of a collection, and edits of many."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field

from frepo_core.services.backups.rotation import next_upload

from ...schemas import json_schemas
from ...schemas.models import Form, Reply
from .models import Collection, CollectionPatch


class NextUpload(Reply):
    """The numbers of the versions that the next upload would evict, if it has the size of the newest version.

    `refused` says why it would be refused; null if it would not.
    """

    evicts: list[int]
    refused: str | None

    @classmethod
    def of(cls, upload: next_upload.NextUpload | None) -> "NextUpload | None":
        """Convert it."""
        return cls(evicts=list(upload.evicts), refused=upload.refusal()) if upload else None


class EditedCollection(Collection):
    """A collection after an edit.

    `next_upload` is null if the edit changed neither the limits nor the minimal retention nor the strategy.
    """

    next_upload: NextUpload | None


MOST = 500


def _each_once(ids: list[str]) -> list[str]:
    if len(set(ids)) < len(ids):
        raise ValueError("A collection is named twice")
    return ids


class ManyEdits(Form):
    """One change of many collections. With `dry_run` nothing is changed: the answer says what would be.

    `change` is as for one collection. Each collection is changed in a transaction of its own: if one of them refuses
    the change, the others are changed all the same.
    """

    collections: Annotated[
        list[Annotated[str, Field(pattern=json_schemas.UUID4, examples=[json_schemas.A_COLLECTION])]],
        AfterValidator(_each_once),
        Field(min_length=1, max_length=MOST, json_schema_extra={"uniqueItems": True}),
    ]
    change: CollectionPatch
    dry_run: bool = False


class EditOfOne(Reply):
    """What the change does to a collection.

    `before` and `after` have the values that it changes, both empty for none. `error` says why this collection refuses
    the change, null if it does not. `name` is empty if the collection does not exist, or is not for this token.
    """

    id: str
    name: str
    before: dict[str, Any]
    after: dict[str, Any]
    next_upload: NextUpload | None
    error: str | None


class EditsOfMany(Reply):
    """What the change does to each collection, in the order of the request."""

    items: list[EditOfOne]
