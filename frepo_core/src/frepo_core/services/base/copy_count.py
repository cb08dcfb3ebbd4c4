"""How many copies a content has."""

from dataclasses import dataclass


@dataclass(kw_only=True)
class CopyCount:
    """How many sound copies of a content there are, and how many there should be.

    It is not frozen: an upload may wait for its second copy after its rows were written.
    """

    present: int
    wanted: int
