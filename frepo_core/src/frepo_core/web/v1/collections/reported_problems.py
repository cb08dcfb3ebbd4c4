"""The model of the problems of a collection that plug-ins report."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ...conventions.types import Time
from ...schemas.models import Reply


class ReportedProblem(Reply):
    """A problem that a plug-in reports, by its name for it, since when, and what it says to people."""

    plugin: str
    name: str
    message: str
    since: Time

    @classmethod
    def all_of(cls, problems: Mapping[str, Mapping[str, Any]]) -> "list[ReportedProblem]":
        """Return the problems of a collection, the oldest first."""
        found = [
            cls(plugin=plugin, name=name, message=one["message"], since=datetime.fromisoformat(one["since"]))
            for plugin, own in problems.items()
            for name, one in own.items()
        ]
        return sorted(found, key=lambda one: one.since)
