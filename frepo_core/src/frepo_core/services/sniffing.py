"""Tells the type of content from the content itself, with libmagic."""

import functools

import pylibmagic  # noqa: F401  # brings libmagic, and shows `magic` where it is; so it comes first

# isort: split
import magic

from frepo_core.domain.types import common_name

HEAD_BYTES = 8192


def sniff(head: bytes) -> str:
    """Return the type of content that starts with `head`, its first 8,192 bytes or all of it."""
    return common_name(_sniffer().from_buffer(head))


@functools.cache
def _sniffer() -> "magic.Magic":
    """Load libmagic's database once; its calls lock each other out by themselves."""
    return magic.Magic(mime=True)
