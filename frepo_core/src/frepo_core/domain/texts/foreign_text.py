"""Makes text that clients wrote safe for terminals, logs and spreadsheets."""

import re

# Terminals obey the characters of C0 and C1, and those that change the direction of the text.
_DIRECTIONS = "\u202a-\u202e\u2066-\u2069"
_CONTROLS = re.compile(f"[\x00-\x1f\x7f-\x9f\u2028\u2029{_DIRECTIONS}]")
_CONTROLS_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029{_DIRECTIONS}]")
# A spreadsheet takes a text that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def escape_controls(text: str, *, keeps_lines: bool = False) -> str:
    r"""Return the text with control characters as `\x1b` or `\n`. With `keeps_lines`, line ends and tabs stay."""
    return (_CONTROLS_IN_LINES if keeps_lines else _CONTROLS).sub(_escape, text)


def spreadsheet_cell(value: object) -> object:
    """Return a value for a cell of a CSV file: an apostrophe comes before a text that would be a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return repr(match[0])[1:-1] if code < 0x7F else f"\\u{code:04x}"
