"""The slot contract: a module of a plug-in that the web console loads into one of its places."""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

SlotPlace: TypeAlias = Literal["collection.tab", "collection.card", "version.action", "overview.card", "health.row"]

_APPLIES = re.compile("(strategy|label):.+")
_MODULE = re.compile(r"[a-z0-9][a-z0-9_-]*(/[\w-][\w.-]*)*/[\w-][\w.-]*\.m?js")


@dataclass(frozen=True, kw_only=True)
class ConsoleSlot:
    """A JavaScript module that the web console loads when it shows the place.

    - `place`: `collection.tab` and `collection.card` are on the page of a collection; `version.action` is a button in
      the row of each version, which opens a dialog; `overview.card` is on the overview, and `health.row` in Health.
    - `name`: unique among all slots. The address of a tab has it.
    - `title`: the heading, or the text of the tab or the button.
    - `module`: the address of the module below the service, such as `acme/panel.js`: the path of pages of the same
      plug-in that are not versioned, and a file in their folder. It exports `mount(element, console)`.
    - `applies_to`: of places that are about a collection, the collections: `strategy:keep_daily` for those with this
      strategy, `label:wal` for those with this label. One of them is enough; none: all collections.
    """

    place: SlotPlace
    name: str
    title: str
    module: str
    applies_to: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values that Python does not. Raises `ValueError`."""
        if self.place not in get_args(SlotPlace):
            raise ValueError(f"place is {self.place!r}; write one of {', '.join(get_args(SlotPlace))}")
        if not self.title:
            raise ValueError("title is empty; it is the heading of the slot")
        if not _MODULE.fullmatch(self.module):
            raise ValueError(f"module is {self.module!r}; write the path of pages and a file, such as 'acme/panel.js'")
        if isinstance(self.applies_to, str) or not all(map(_APPLIES.fullmatch, self.applies_to)):
            raise ValueError(f"applies_to is {self.applies_to!r}; write ('strategy:NAME', 'label:LABEL')")
        if self.applies_to and self.place in {"overview.card", "health.row"}:
            raise ValueError(f"{self.place} is not about a collection, so that applies_to must be empty")
