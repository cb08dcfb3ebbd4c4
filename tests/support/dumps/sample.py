"""One kind of backup, as its program makes it."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A whole backup under the name that it usually has.

    `has_end` says whether its format has an end that can be seen. `killed` are what a killed program leaves, if that is
    not simply the start of the whole backup; None if the program cannot be killed without a cut file. `is_listed` says
    whether the documentation names it.
    """

    content: bytes
    file_name: str
    has_end: bool = True
    killed: Sequence[bytes] | None = ()
    is_listed: bool = True
