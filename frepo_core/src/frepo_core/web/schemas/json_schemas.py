"""JSON schemas of values with validators of our own. The validators accept every value that matches.

The patterns use only syntax that all dialects of regular expressions have, so each letter is written in both cases.
Limits that a pattern cannot express (2^63-1 bytes in terabytes) are rounded down.
"""

from typing import Any

from frepo_core.domain.sizes import MAX_SIZE


def any_case(*words: str) -> str:
    """Return a pattern for the words in any case."""
    return "|".join("".join(f"[{c.upper()}{c}]" if c.isalpha() else c for c in word) for word in words)


MOMENT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}$"
EXPIRY = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}$"
FINGERPRINT = "^[0-9a-f]{12,16}$"
SHA256 = "^[0-9a-f]{64}$"
UUID4 = "^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-4[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$"
# The ids in examples; the contract tests create these objects.
A_COLLECTION = "52f29b69-9ff7-4d10-8d9c-1c9b7a0c7a52"
A_TOKEN = "a6c1d7f0-38bb-4c0e-9d7e-0f3b1a2c4d5e"  # an example, no service knows it
A_REVOKED_TOKEN = "0b9be6b4-5a4f-4f7a-8f0d-6f1f0c9b7e21"

FLAG: dict[str, Any] = {
    "description": "true, 1, yes, on, or false, 0, no, off and the empty text, in any case.",
    "anyOf": [
        {"type": "boolean"},
        {"type": "string", "pattern": f"^({any_case('true', '1', 'yes', 'on', 'false', '0', 'no', 'off')})?$"},
    ],
}

# Latin, Greek, Cyrillic, Armenian, Hebrew, Arabic, Devanagari, Thai, Japanese, Chinese and Korean: not every dialect
# has \\p{L}. Without characters that get longer in NFC.
_SCRIPTS = (
    "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02c1\u0391-\u03a1\u03a3-\u03f5\u03f7-\u0481\u0483-\u052f\u0531-\u0556\u0561-\u0587"
    "\u05d0-\u05ea\u0620-\u0669\u0900-\u0957\u0e01-\u0e3a\u3041-\u3096\u30a1-\u30fa\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
)
_IN_NAMES = rf"A-Za-z0-9.\-_+()\[\]!,@$'&%#~={_SCRIPTS}"
FILE_NAME: dict[str, Any] = {
    "type": "string",
    "description": "1 to 200 letters, marks and digits of any script, spaces and . - _ + ( ) [ ] ! , @ $ ' & % # ~ =; "
    "not . or .., and no space at either end. The pattern names common scripts; letters of others are accepted, too.",
    "pattern": f"^[{_IN_NAMES}]([{_IN_NAMES} ]{{0,198}}[{_IN_NAMES}])?$",
    "not": {"enum": [".", ".."]},
    "examples": ["dump.sql.gz"],
}
# Those of /api/v1. Emoji beyond the first 65,536 characters are accepted, too, but not every dialect can name them.
_IN_FREE_NAMES = rf"{_IN_NAMES}:\u2600-\u2767\u2794-\u27bf"
FREE_FILE_NAME = FILE_NAME | {
    "description": "1 to 200 letters, marks, digits and symbols of any script, spaces and . - _ + ( ) [ ] ! , @ $ ' "
    "& % # ~ = :; not . or .., and no space at either end. The pattern names common ones; others are accepted, too.",
    "pattern": f"^[{_IN_FREE_NAMES}]([{_IN_FREE_NAMES} ]{{0,198}}[{_IN_FREE_NAMES}])?$",
}

# Latin beyond ASCII, without the dotted capital I, whose lower case has a combining mark.
_LETTERS = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u012f\u0131-\u017f"
TAG: dict[str, Any] = {
    "type": "string",
    "description": "Letters of any script, digits, dots, dashes and underscores; kept in lower case.",
    "pattern": f"^[0-9A-Za-z._\\-{_LETTERS}]{{1,64}}$",
    "examples": ["nightly"],
}


def _sizes() -> str:
    """Return the pattern of sizes. Larger units have fewer digits, so that all sizes are below 2^63.

    A size other than 0 is at least one byte, so the unit limits the number of zeros after the dot.
    """
    found = [r"0{1,12}(\.0{1,18})?( ?([KkMmGgTt][Ii]?)?[Bb])?", r"0{0,12}[1-9][0-9]{0,17}(\.[0-9]{1,18})?( ?[Bb])?"]
    for power, letter in enumerate("kmgt", start=1):
        whole = rf"0{{0,12}}[1-9][0-9]{{0,{17 - 3 * power}}}(\.[0-9]{{1,18}})?"
        part = rf"0{{1,12}}\.0{{0,{3 * power - 1}}}[1-9][0-9]{{0,17}}"
        found.append(f"({whole}|{part}) ?[{letter.upper()}{letter}][Ii]?[Bb]")
    return f"^({'|'.join(found)})$"


SIZE: dict[str, Any] = {
    "description": "Bytes up to 2^63-1, or a text: B kB MB GB TB are powers of 1000, KiB MiB GiB TiB powers of 1024.",
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": MAX_SIZE},
        {"type": "string", "pattern": _sizes()},
    ],
    "examples": ["4GB"],
}

COUNT: dict[str, Any] = {
    "description": "A whole number, also as a text of digits.",
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": MAX_SIZE},
        {"type": "string", "pattern": "^[0-9]{1,18}$"},
    ],
    "examples": [5],
}

PERCENT: dict[str, Any] = {
    "description": "A whole number up to 100, also as a text of digits; 0 is off.",
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 100},
        {"type": "string", "pattern": "^0{0,15}(100|[0-9]{1,2})$"},
    ],
    "examples": [50],
}

DURATION: dict[str, Any] = {
    "description": "A duration: a number of s, m, h, d or w, such as 30m, 48h or 7d; 0 is off.",
    "type": "string",
    "pattern": "^(0|[0-9]{1,9} ?[SsMmHhDd]|0?[0-9]{1,8} ?[Ww])$",
    "examples": ["7d"],
}
WRITTEN_DURATION = "^[0-9]+[smhdw]$"

DAY: dict[str, Any] = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "const": ""}]}

_DAYS = (
    "((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
    "( ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9])?"
)
_UNITS = any_case("second", "sec", "minute", "min", "hour", "day", "week", "month", "year")
_WORDS = any_case("auto", "automatic", "never", "tomorrow", "today", "midnight", "now")
_SUM = f"[+-]?[0-9]{{1,3}} ?({_UNITS})[Ss]?( [+-]?[0-9]{{1,3}} ?({_UNITS})[Ss]?)?"
EXPIRES: dict[str, Any] = {
    "description": "Empty, auto or automatic: the service's default. never. A time in UTC: YYYY-MM-DD, "
    "YYYY-MM-DD HH:MM:SS (the 29th of February, too). tomorrow, today, midnight, now. "
    "Sums such as +30 minutes, 1 day 2 hours.",
    "type": ["string", "null"],
    "pattern": f"^({_WORDS}|[1-9][0-9]{{3}}-{_DAYS}|{_SUM})?$",
    "examples": ["+30 days", "never"],
}

NETWORK: dict[str, Any] = {
    "description": "An address, or a network such as 10.0.0.0/8 or 2001:db8::/32.",
    "anyOf": [
        {"type": "string", "format": "ipv4"},
        {"type": "string", "format": "ipv6"},
        {
            "type": "string",
            "pattern": r"^((25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
            r"(\.(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}"
            r"/([12]?[0-9]|3[0-2])|([0-9A-Fa-f]{1,4}:){1,6}:/([1-9]?[0-9]|1[01][0-9]|12[0-8]))$",
        },
    ],
    "examples": ["10.0.0.0/8"],
}

# The services check chosen ids, with an error text that is part of the API.
CHOSEN_ID: dict[str, Any] = {
    "description": "A chosen id. An id that is in use or malformed is refused.",
    "type": ["string", "null"],
    "format": "uuid",
    "pattern": UUID4,
}

_TYPE_NAME = "[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,60}"
MIME_TYPE: dict[str, Any] = {
    "type": "string",
    "pattern": f"^{_TYPE_NAME}/{_TYPE_NAME}$",
    "examples": ["image/png"],
}

# ASCII, and the letters of common scripts.
_PRINTABLE = f"!-~{_SCRIPTS}"
TOKEN_NAME: dict[str, Any] = {
    "type": "string",
    "description": "1 to 128 printable characters, without a space at the ends. The pattern names common ones; "
    "others are accepted, too.",
    "pattern": f"^[{_PRINTABLE}]([{_PRINTABLE} ]{{0,126}}[{_PRINTABLE}])?$",
    "examples": ["db7"],
}
