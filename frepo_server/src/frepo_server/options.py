"""Checks the settings of [server:main] before anything listens."""

import difflib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from waitress.adjustments import Adjustments

from .idle_timeout import Timeouts

_KNOWN = {name: cast for name, cast in Adjustments._params if name != "sockets"}
_TIMEOUTS = frozenset(each.name for each in fields(Timeouts))


def check_options(options: Mapping[str, Any]) -> None:
    """Raise `ValueError` for a setting that waitress and `Timeouts` do not know, or whose value it cannot read."""
    for name, value in options.items():
        if name in _TIMEOUTS:
            continue
        if name not in _KNOWN:
            raise ValueError(f"{name} is no setting of the server{_near(name)}")
        try:
            read = _KNOWN[name](value)
        except ValueError:
            raise ValueError(f"{name} = {value} is not a whole number") from None
        if name == "threads" and read < 1:
            raise ValueError(f"{name} = {value} serves no request: write 1 or more")


def _near(name: str) -> str:
    near = difflib.get_close_matches(name, [*_KNOWN, *_TIMEOUTS], n=1)
    return f" (did you mean {near[0]}?)" if near else ""
