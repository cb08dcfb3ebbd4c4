"""What became of an upload, as a sentence and as an exit status."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import BROKEN, QUARANTINED, REFUSED, STORED, UNDECIDED
from ..reporter import size_text


@dataclass(frozen=True)
class Outcome:
    """The version that was stored, as the server answers it.

    `are_others_refused` is whether other dumps stay in the spool, because the server does not take them.
    """

    version: dict[str, Any]
    are_others_refused: bool = False

    @property
    def verdict(self) -> str:
        """The verdict; `unchecked` from a server that has none."""
        return str(self.version.get("verdict") or "unchecked")

    def status(self, *, strict: bool) -> int:
        """Return the exit status. `strict` asks for a verdict that says that the content was looked at."""
        if self.are_others_refused:
            return REFUSED
        if self.verdict == "broken":
            return BROKEN
        if self.version.get("quarantined") or self.verdict == "suspicious":
            return QUARANTINED
        return UNDECIDED if strict and self.verdict in {"pending", "unchecked"} else STORED

    def describe(self, collection: str) -> str:
        """Return a sentence."""
        size = size_text(int(self.version.get("size") or 0))
        text = f"{collection}: version {self.version.get('number')} is stored, {size}, {self.verdict}"
        reason = self.version.get("verdict_reason") or self.version.get("quarantine_reason")
        if self.version.get("quarantined"):
            text += ", in quarantine"
        return f"{text}: {reason}" if reason and self.status(strict=False) != STORED else text
