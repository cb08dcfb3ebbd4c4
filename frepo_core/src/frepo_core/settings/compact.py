"""The settings of compact storage."""

from datetime import timedelta
from typing import Literal

from pydantic import BaseModel

from .declaration import harmless
from .types import Duration, Size


class CompactSettings(BaseModel, defer_build=True):
    """The setting `compact`, and those whose names begin with `compact.`."""

    compact: bool = harmless(
        "compact",
        False,
        "Let the job `compact` store older versions as the difference to newer ones. Needs the extra "
        "`frepo-core[compact]`.",
    )
    compact_newest: Literal["raw", "zstd", "shared"] = harmless(
        "compact.newest",
        "raw",
        "How the newest version of a collection is stored: `raw`, so that it is sent as fast as without `compact`, "
        "`zstd`, compressed, or `shared`, the difference to a like newest version of another collection in its group.",
    )
    compact_depth: int = harmless(
        "compact.depth",
        4,
        "How many differences are at most read, one on top of the other, to read a version.",
        ge=1,
        le=8,
    )
    compact_after: Duration = harmless(
        "compact.after",
        "1d",
        "How old a version is at least when it is compacted.",
        ge=timedelta(),
        le=timedelta(days=3660),
    )
    compact_format: int = harmless(
        "compact.format",
        1,
        "The newest format in which contents are encoded: 1, or 2 when all processes of the service know it.",
        ge=1,
        le=2,
    )
    compact_rate: Size = harmless(
        "compact.rate",
        "50MB",
        "How many bytes of contents a second the job `compact` encodes at most; 0: no limit. It takes half a core at "
        "most.",
    )
    compact_debt: float = harmless(
        "compact.debt",
        10.0,
        "If contents that are only kept as the base of others take more than this percentage of the stored bytes, "
        "`/health` says so.",
        gt=0,
        le=100,
    )
