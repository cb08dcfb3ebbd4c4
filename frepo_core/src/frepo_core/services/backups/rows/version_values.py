"""What is chosen for a new version, beside its content."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from frepo_core.domain.structs import struct

from ...base.records import CollectionRecord


@struct
class VersionValues:
    """`guards` contains what applies in place of the collection's guards; its keys are the fields of `Guards`.

    `labels` are names with values, by which the version is found. `note` is for people.
    """

    guards: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    def guarded(self, collection: CollectionRecord) -> CollectionRecord:
        """Return the collection with the guards that apply to this version."""
        return replace(collection, guards=replace(collection.guards, **self.guards)) if self.guards else collection

    def is_compared(self, collection: CollectionRecord) -> bool:
        """Return whether later versions are compared with this one: not if all its guards were switched off for it."""
        return not self.guards or self.guarded(collection).guards.looks_at_contents


NO_VALUES = VersionValues()
