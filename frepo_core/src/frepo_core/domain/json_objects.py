"""Reads JSON objects from bytes that somebody else may have written."""

import json
from typing import Any


def parse_object(text: bytes | str) -> dict[str, Any]:
    """Return a JSON object. Raises `ValueError` if it is something else, or nested too deep."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}, not an object")  # noqa: TRY004  # callers know one error
    return value
