"""Parses JSON bodies. Their limits are checked before they are parsed, to bound the memory.

A parsed list of empty lists takes 24 times the memory of its text, and error messages for its items take more. With
limits on the number of values, the depth and the length of names, a refused body takes less than ten times its size.
Bodies below 256 KiB may take more, because every request takes some 300 KiB. The bytes are parsed directly: Python
takes four bytes for each character of a text with one character above U+FFFF, so that a decoded body is four times as
large.
"""

import re
from typing import Any

from pydantic_core import from_json

from frepo_core.errors import MalformedRequestError

JSON_BYTES = 1 << 20
# The largest form, a token with all its lists full, has some 600 values.
MAX_VALUES = 2_000
MAX_DEPTH = 16
MAX_NAME = 255

# A string, complete or not, or a structural character. The quantifiers are possessive, so that the scan is linear.
_TOKEN = re.compile(rb'"(?:[^"\\]++|\\.)*+\\?"?|[\[\]{},]', re.DOTALL)


def parse_json(raw: bytes) -> Any:
    """Parse JSON in UTF-8 (RFC 8259). An empty body is an empty object. Raises `MalformedRequestError`."""
    if len(raw) > JSON_BYTES:
        raise MalformedRequestError(f"The JSON body is larger than {JSON_BYTES} bytes")
    _check_structure(raw)
    try:
        data = from_json(raw or b"{}", allow_inf_nan=False, cache_strings=False)
    except ValueError as error:
        raise MalformedRequestError(_describe(str(error))) from None
    _check_names(data)
    return data


def _describe(problem: str) -> str:
    """Return the message for the client about what the parser found."""
    if "unicode code point" in problem:
        return "The body is not UTF-8"
    if "hex escape" in problem:
        return "A text holds half of a surrogate pair"
    return f"The body is not valid JSON: {problem}"


def _check_structure(raw: bytes) -> None:
    """Count values and depth in the text, in linear time and constant memory."""
    depth, values = 0, 1
    for match in _TOKEN.finditer(raw):
        sign = raw[match.start()]
        if sign in b"[{":
            depth += 1
            values += 1
        elif sign in b"]}":
            depth -= 1
        elif sign == ord(","):
            values += 1
        if depth > MAX_DEPTH:
            raise MalformedRequestError(f"The JSON body is nested too deeply: at most {MAX_DEPTH} levels are allowed")
        if values > MAX_VALUES:
            raise MalformedRequestError(f"The JSON body has too many values: at most {MAX_VALUES} are allowed")


def _check_names(data: Any) -> None:
    remaining = [data]
    while remaining:
        value = remaining.pop()
        if isinstance(value, dict):
            if any(len(name) > MAX_NAME for name in value):
                raise MalformedRequestError(f"A name in the JSON body is longer than {MAX_NAME} characters")
            remaining += value.values()
        elif isinstance(value, list):
            remaining += value
