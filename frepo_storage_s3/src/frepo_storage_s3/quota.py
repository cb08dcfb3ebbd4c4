"""Reads the quotas that Ceph's RADOS Gateway reports in the headers of a bucket, to its owner."""

from collections.abc import Mapping

USED = "x-rgw-bytes-used"
# Of each bucket of the user, and of all of them together. A negative one is not set.
QUOTAS = ("x-rgw-quota-bucket-size", "x-rgw-quota-user-size")


def space_left(headers: Mapping[str, str]) -> int | None:
    """Return how many bytes the quotas leave, None without a quota. Other buckets of the user are not counted."""
    used = _number(headers.get(USED))
    quota = quota_of(headers)
    return max(0, quota - used) if quota is not None and used is not None else None


def quota_of(headers: Mapping[str, str]) -> int | None:
    """Return the smaller one of the quotas, None without a quota."""
    return min((quota for name in QUOTAS if (quota := _number(headers.get(name))) is not None), default=None)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isascii() and text.isdecimal() else None
