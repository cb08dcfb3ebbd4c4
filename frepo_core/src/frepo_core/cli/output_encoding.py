"""Lets stdout write every character: what its encoding lacks is escaped as in JSON, such as `\\u017c`."""

import codecs
import io
from typing import TextIO

_HANDLER = "frepo.escape"
# Others were chosen by the user, with PYTHONIOENCODING.
_FAILING = {"strict", "surrogateescape"}


def accept_all_characters(stream: TextIO) -> None:
    """Escape what the encoding of a stream lacks. Python would raise `UnicodeEncodeError` instead."""
    if not isinstance(stream, io.TextIOWrapper) or stream.errors not in _FAILING:
        return
    if codecs.lookup(stream.encoding).name != "utf-8":
        codecs.register_error(_HANDLER, _escape)
        stream.reconfigure(errors=_HANDLER)


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True)), error.end
