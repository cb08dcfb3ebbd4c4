"""Finds what `openssl enc` has made of nothing. Of what is longer, nothing can be checked without the key."""

import base64
import binascii
from contextlib import suppress

from ...outcomes import BrokenContent, EmptyContent, LittleContent
from ..format import LITTLE

KIND = "openssl"
# What is longer holds more than next to nothing, also as text.
HEAD = 256
_START, _AS_TEXT = b"Salted__", b"U2FsdGVkX1"
_SALT, _BLOCK = len(_START) + 8, 16


def find_nothing(head: bytes) -> BrokenContent | None:
    """Return what is wrong with a content that is less than 256 bytes long: `head` is all of it. None if nothing is.

    A block of a cipher, which is encrypted also if there is nothing, holds at most 15 bytes, which no backup has.
    """
    content = head
    if content.startswith(_AS_TEXT):
        with suppress(binascii.Error):
            content = base64.b64decode(head)
    if len(head) >= HEAD or not content.startswith(_START):
        return None
    if len(content) <= _SALT + _BLOCK:
        return EmptyContent(KIND, "There is nothing in the encrypted file")
    return LittleContent(KIND, "") if len(content) <= _SALT + _BLOCK + LITTLE else None
