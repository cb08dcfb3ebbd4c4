"""Reads JSON objects from bytes that somebody else may have written."""

import json
from typing import Any


def parse_object(text: bytes | str) -> dict[str, Any]:
    """Return a JSON object. Raises `ValueError` if it is something else, or nested too deep, or not in UTF-8.

    Half of a surrogate pair is no text either: no database and no terminal takes it.
    """
    text = text if isinstance(text, str) else text.decode()
    try:
        value = json.loads(text)
        if "\\u" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    except UnicodeEncodeError:
        raise ValueError("it holds half of a surrogate pair") from None
    if not isinstance(value, dict):
        raise ValueError(f"it is {type(value).__name__}, not an object")  # noqa: TRY004  # callers know one error
    return value
