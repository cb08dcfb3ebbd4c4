"""Checks the head of a request before waitress parses it: waitress takes quadratic time for some heads."""

import re
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

MAX_HEAD = 32 << 10
MAX_LINE = 8 << 10
MAX_LENGTH_DIGITS = 19

# Each pattern has only one way to match, so that a mismatch takes linear time, too.
_REQUEST_LINE = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Z]+ [^ \x00-\x1f\x7f]+ HTTP/1\.[01]")
_PATH = re.compile(rb"[!-~]{1,32} (?:https?://[^/?# ]{0,255})?(/[^?# \x00-\x1f\x7f]*)")
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_CONTROL_CHARACTER = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
# If one of these is repeated, a proxy may use another one than the server (RFC 9110, 5.3).
_SINGLE = frozenset({b"host", b"content-length", b"transfer-encoding"})


class MalformedHeadError(Exception):
    """The head violates RFC 9112. The argument is the message for the client."""


class LongLineError(Exception):
    """A line of the head is longer than `MAX_LINE`."""


def normalize(head: bytes) -> bytes:
    """Return the head without whitespace around values, and with a request line in ASCII, in linear time.

    Bytes beyond ASCII in the target, which curl sends, are percent-encoded (RFC 3986, 2.1): waitress refuses them.
    Raises `MalformedHeadError` (400) and `LongLineError` (431).
    """
    request_line, *lines = head.split(b"\r\n")
    if len(request_line) > MAX_LINE:
        raise LongLineError(f"The request line is longer than {MAX_LINE} bytes")
    if not _REQUEST_LINE.fullmatch(request_line):
        raise MalformedHeadError("The request line is not 'METHOD target HTTP/1.1'")
    request_line = _NOT_ASCII.sub(lambda match: b"%%%02X" % ord(match[0]), request_line)
    fields = [_field(line) for line in lines if line]  # the last lines are empty
    _check_framing(dict(_singles(fields)), is_http_1_0=request_line.endswith(b"0"))
    return b"\r\n".join([request_line, *(name + b": " + value for name, value in fields), b"", b""])


def path_of(head: bytes) -> str:
    """Return the path in the first line of a head that is refused, as WSGI's PATH_INFO; empty if it has none.

    The head may be malformed, or cut off in its first line.
    """
    match = _PATH.match(head)
    return unquote_to_bytes(match[1]).decode("latin-1") if match else ""


def _field(line: bytes) -> tuple[bytes, bytes]:
    if len(line) > MAX_LINE:
        raise LongLineError(f"A header is longer than {MAX_LINE} bytes")
    name, colon, value = line.partition(b":")
    if not colon or not _NAME.fullmatch(name):
        raise MalformedHeadError("A header line is not 'name: value'")
    if _CONTROL_CHARACTER.search(value):
        raise MalformedHeadError(f"The header {name.decode()} has a control character in its value")
    return name, value.strip(b" \t")


def _singles(fields: list[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    seen = set()
    for name, value in fields:
        if (key := name.lower()) in _SINGLE:
            if key in seen:
                raise MalformedHeadError(f"The header {name.decode()} is there more than once")
            seen.add(key)
            yield key, value


def _check_framing(fields: dict[bytes, bytes], *, is_http_1_0: bool) -> None:
    """Refuse ambiguous body lengths, against request smuggling (RFC 9112, 6.1 and 6.3)."""
    length, coding = fields.get(b"content-length"), fields.get(b"transfer-encoding")
    if length is not None and not (length.isdigit() and len(length) <= MAX_LENGTH_DIGITS):
        raise MalformedHeadError(f"Content-Length is not a number of at most {MAX_LENGTH_DIGITS} digits")
    if coding is None:
        return
    if length is not None:
        raise MalformedHeadError("Content-Length and Transfer-Encoding exclude each other")
    if is_http_1_0:
        raise MalformedHeadError("HTTP/1.0 has no Transfer-Encoding")
    codings = [each.strip(b" \t") for each in coding.lower().split(b",")]
    if b"" in codings or codings.count(b"chunked") > 1:
        raise MalformedHeadError("Transfer-Encoding is not 'chunked'")
