"""Masks secrets in the texts of errors, which are stored and shown."""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import BaseModel, SecretStr

from ..base.plugin_failures import storable

MASK = "***"
_MAX_LENGTH = 1000
_BEGIN = 300
_SHORTEST = 4  # a shorter secret would mask parts of ordinary words
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+(?=@)")
_NAMES = r"[\w-]*(?:token|secret|password|passwd|signature|api[_-]?key)|key|sig|authorization"
_SECRET_NAME = re.compile(_NAMES, re.IGNORECASE)
_NAMED = re.compile(
    rf"""(?ix) \b ({_NAMES})
    (\s*[=:]\s*["']?) (?:(?:bearer|basic)\s+)? [^\s"'&,;)}}]+"""
)


class Mask:
    """Replaces the values of secret settings, user names and passwords in URLs, and values with a secret's name."""

    def __init__(self, *settings: BaseModel | None) -> None:
        """Collect the secrets in these models of settings."""
        found = {secret for model in settings for secret in _secrets(model) if len(secret) >= _SHORTEST}
        longest_first = sorted(found, key=len, reverse=True)
        self._secrets = re.compile("|".join(map(re.escape, longest_first))) if found else None

    def __call__(self, text: str) -> str:
        """Return the text with masked secrets, in at most 1,000 characters that every database can store.

        A longer text keeps its begin and its end, where a traceback names the error.
        """
        text = self._replace(text)
        return text if len(text) <= _MAX_LENGTH else f"{text[:_BEGIN]}…{text[_BEGIN + 1 - _MAX_LENGTH :]}"

    def data(self, value: Any) -> Any:
        """Return JSON data with masked secrets, in names too. A text with the name of a secret is masked as a whole."""
        if isinstance(value, Mapping):
            return {self._replace(name): self._value(name, inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [self.data(inner) for inner in value]
        return self._replace(value) if isinstance(value, str) else value

    def describe(self, error: BaseException) -> str:
        """Return the type and the text of an error in one line, with masked secrets."""
        message = " ".join(str(error).split())
        return self(f"{type(error).__name__}: {message}" if message else type(error).__name__)

    def _value(self, name: str, value: Any) -> Any:
        return MASK if isinstance(value, str) and _SECRET_NAME.fullmatch(name) else self.data(value)

    def _replace(self, text: str) -> str:
        if self._secrets is not None:
            text = self._secrets.sub(MASK, text)
        return storable(_NAMED.sub(rf"\1\2{MASK}", _USER_INFO.sub(MASK, text)))


def _secrets(value: Any) -> Iterator[str]:
    """Yield the values of all secrets in a model, at any depth.

    Not every iterable is a container: that of a network yields each of its addresses, which are 16 million in
    `10.0.0.0/8`.
    """
    if isinstance(value, SecretStr):
        yield value.get_secret_value()
    elif isinstance(value, BaseModel):
        for _, inner in value:
            yield from _secrets(inner)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _secrets(inner)
    elif isinstance(value, Sequence | AbstractSet) and not isinstance(value, str | bytes):
        for inner in value:
            yield from _secrets(inner)
