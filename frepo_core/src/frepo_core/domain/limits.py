"""The limits of a collection and the rules between them."""

from collections.abc import Mapping
from dataclasses import dataclass

from frepo_core.errors import RuleError

from .sizes import format_size

COUNT, ONE, TOTAL = "maxBackupsCount", "maxOneVersionSize", "maxCollectionSize"


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How many versions, how many bytes in one, how many in all; 0 is no limit."""

    count: int
    one: int
    total: int


def infinite_fields(asked: Mapping[str, int]) -> list[str]:
    """Return the limits that are asked to be off; that needs a role of its own."""
    return [field for field, value in asked.items() if value == 0]


def check_limits(limits: Limits, *, ceilings: Limits, asked: Mapping[str, int], stored: int = 0) -> None:
    """Check what a collection is to be limited to; `asked` holds the fields that the request names itself.

    `stored` is what the collection holds now, in bytes. Raises `RuleError` for the first rule that is broken.
    """
    _check_ceilings(ceilings, asked)
    if limits.one and limits.total and limits.total < limits.one:
        raise RuleError(4003, TOTAL, "max_collection_size_is_lower_than_single_element_size")
    wanted = limits.count * limits.one
    if {COUNT, ONE, TOTAL} <= asked.keys() and limits.total and wanted > limits.total:
        raise RuleError(
            4003,
            TOTAL,
            "max_collection_size_will_have_not_enough_space_to_keep_max_number_of_items",
            context={"needsAtLeastValue": format_size(wanted, up=True)},
        )
    if TOTAL in asked and limits.total and limits.total < stored:
        raise RuleError(4004, TOTAL, "max_collection_size_is_smaller_than_real_sum_of_data_in_collection")


def _check_ceilings(ceilings: Limits, asked: Mapping[str, int]) -> None:
    if ceilings.count and asked.get(COUNT, 0) > ceilings.count:
        raise RuleError(4000, COUNT, "max_backups_count_too_many", context={"max": ceilings.count})
    if ceilings.one and asked.get(ONE, 0) > ceilings.one:
        raise RuleError(4002, ONE, "max_one_version_size_too_big", context={"max": format_size(ceilings.one)})
    if ceilings.total and asked.get(TOTAL, 0) > ceilings.total:
        raise RuleError(4001, TOTAL, "max_collection_size_too_big", context={"max": format_size(ceilings.total)})
