"""Values of the configuration, with errors that name the key and say what is right."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import UsageError

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|d)?")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, None: 1}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(k|M|G|T)?i?B?")
_API = "/api/v1"
_BYTES = {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, None: 1}


def duration(text: str) -> float:
    """Return a length of time such as `90m` in seconds."""
    match = _DURATION.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a length of time; write it as 30s, 90m, 6h or 2d")
    return float(match[1]) * _SECONDS[match[2]]


def size(text: str) -> int:
    """Return a size such as `10M` in bytes."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a size; write it as 500k, 10M or 1G")
    return int(float(match[1]) * _BYTES[match[2]])


def plain_url(text: str) -> str:
    """Return the address of a server without blanks around it, and without the path of its API."""
    url = text.strip().rstrip("/")
    return url[: -len(_API)].rstrip("/") if url.endswith(_API) else url


class Table:
    """A table of the file. `where` names it in messages, such as `[job.shop]`."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, Mapping):
            raise UsageError(f"{where} must be a table")
        self.values: Mapping[str, Any] = values
        self.where = where

    def only(self, known: Iterable[str]) -> None:
        """Raise `UsageError` for a key that does not exist, and name the right one."""
        names = sorted(known)
        for key in self.values:
            if key not in names:
                close = difflib.get_close_matches(key, names, 1)
                hint = f"did you mean {close[0]!r}?" if close else f"the keys are {', '.join(names)}"
                raise UsageError(f"{self.where} has no key {key!r}; {hint}")

    def text(self, key: str, default: str = "") -> str:
        """Return a text."""
        return str(self._one(key, str, "a text", default))

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return one of the texts that are allowed."""
        found = self.text(key, default)
        if found not in choices:
            raise UsageError(f"{self.where} {key} {found!r}: write {', '.join(choices[:-1])} or {choices[-1]}")
        return found

    def flag(self, key: str, *, default: bool = False) -> bool:
        """Return true or false."""
        return bool(self._one(key, bool, "true or false", default))

    def seconds(self, key: str, default: float | None = None) -> float | None:
        """Return a length of time in seconds."""
        found = self.text(key)
        try:
            return duration(found) if found else default
        except UsageError as error:
            raise UsageError(f"{self.where} {key}: {error}") from None

    def size(self, key: str, default: int | None = None) -> int | None:
        """Return a size in bytes."""
        found = self.text(key)
        try:
            return size(found) if found else default
        except UsageError as error:
            raise UsageError(f"{self.where} {key}: {error}") from None

    def texts(self, key: str) -> list[str]:
        """Return a list of texts; one text is a list of one."""
        found = self.values.get(key, [])
        found = [found] if isinstance(found, str) else found
        if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
            raise UsageError(f'{self.where} {key} must be a list of texts, ["a", "b"]')
        return found

    def stages(self, key: str) -> list[list[str]]:
        """Return the stages of a command; one list of words is one stage."""
        found = self.values.get(key, [])
        if isinstance(found, list) and found and all(isinstance(word, str) for word in found):
            found = [found]
        is_right = isinstance(found, list) and all(
            isinstance(stage, list) and stage and all(isinstance(word, str) for word in stage) for stage in found
        )
        if not is_right:
            raise UsageError(f'{self.where} {key} must be stages of words: [["pg_dump", "shop"], ["gzip"]]')
        return [list(stage) for stage in found]

    def _one(self, key: str, kind: type, name: str, default: Any) -> Any:
        found = self.values.get(key, default)
        if not isinstance(found, kind):
            shown = repr(found) if isinstance(found, (bool, int, float)) else f"a {type(found).__name__}"
            raise UsageError(f"{self.where} {key} must be {name}, not {shown}")
        return found
