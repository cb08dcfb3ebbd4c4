"""Decodes base64 content on its way in, a piece at a time."""

import base64
import binascii
import contextlib
from collections.abc import Iterator
from typing import BinaryIO, cast

from frepo_core.errors import FieldsError

from .intake import Incoming, Intake, no_room_translated

CHUNK = 1 << 20
_BLANKS = b" \t\r\n"
_URL_HEAD = 1024


@contextlib.contextmanager
def decoded(incoming: Incoming, intake: Intake) -> Iterator[Incoming]:
    """Give the decoded content (RFC 4648, 4), hashed as it is decoded; the head of a data URL (RFC 2397) is dropped.

    White space is skipped. Raises `FieldsError` for what is not base64.
    """
    with intake.spool() as spool:
        try:
            with no_room_translated():
                for piece in _pieces(incoming.stream):
                    spool.append(base64.b64decode(piece, validate=True))
        except binascii.Error:
            raise FieldsError({"form.encoding": ["The content is not valid base64"]}) from None
        stream = cast(BinaryIO, spool.getfile())
        yield Incoming(stream=stream, sha256=incoming.sha256, md5=incoming.md5)


def _pieces(stream: BinaryIO) -> Iterator[bytes]:
    """Cut the text into pieces of whole groups of four letters, the last one excepted."""
    rest = _without_head(stream.read(CHUNK))
    is_padded = False
    while rest:
        text = rest.translate(None, _BLANKS)
        if is_padded and text:
            raise binascii.Error("more content after its padding")
        whole = len(text) - len(text) % 4
        is_padded = is_padded or text[:whole].endswith(b"=")
        if more := stream.read(CHUNK):
            yield text[:whole]
            rest = text[whole:] + more
        else:
            yield text
            rest = b""


def _without_head(text: bytes) -> bytes:
    if text.lstrip(_BLANKS)[:5].lower() != b"data:":
        return text
    head, comma, rest = text.partition(b",")
    if not comma or len(head) > _URL_HEAD:
        raise binascii.Error("a data URL without content")
    return rest
