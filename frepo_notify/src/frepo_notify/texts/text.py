"""The text of one kind of event, with names in braces for its fields."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["failure", "warning", "info", "success"]


@dataclass(frozen=True, kw_only=True)
class Text:
    """What happened and what to do, for one kind of event.

    - `title`: for the subject of one event. `counted`: after a number, for one and for many: `1 version added`.
    - `what`: a sentence; a name in braces is a field of `sentences.fields_of`.
    - `advice`: what to do; empty if there is nothing to do.
    """

    title: str
    counted: tuple[str, str]
    what: str
    advice: str = ""
    level: Level = "info"
