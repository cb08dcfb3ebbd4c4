"""What the values of guards may be, where they are given in Python and not in a request."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from ..sizes import MAX_SIZE

_ACTIONS = ("mark", "refuse", "quarantine")


def whole(value: Any, most: int = MAX_SIZE) -> int:
    """Return a whole number that is not negative. Raises `ValueError`."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"A whole number from 0 to {most} is expected")
    return value


def length(value: Any, most: timedelta = timedelta.max) -> timedelta:
    """Return a length of time. Raises `ValueError`."""
    if not isinstance(value, timedelta) or not timedelta() <= value <= most:
        raise ValueError(f"A timedelta of at most {most.days} days is expected")
    return value


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("True or False is expected")
    return value


def _action(value: Any) -> str:
    if value not in _ACTIONS:
        raise ValueError(f"One of {', '.join(_ACTIONS)} is expected")
    return str(value)


# By the names of `/api/v1`. Each raises `TypeError` or `ValueError`.
CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "min_retention": length,
    "min_version_size": whole,
    "max_shrink_percent": partial(whole, most=100),
    "max_growth_percent": whole,
    "max_decline_percent": partial(whole, most=100),
    "expects_kind": _flag,
    "expects_change": _flag,
    "max_unchanged": length,
    "on_suspicious": _action,
}


def field_of(name: str) -> str:
    """Return the name that a guard of `/api/v1` has as a field of `Guards`."""
    return "action" if name == "on_suspicious" else name
