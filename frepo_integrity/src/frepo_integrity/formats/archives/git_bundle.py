"""Checks a git bundle: its header, and the digest at the end of its pack (gitformat-bundle(5), gitformat-pack(5))."""

import hashlib
import re

from ...budget import Budget
from ...byte_stream import ByteStream
from ...outcomes import BrokenContent, NotCheckable
from ..format import Format, read_all_but

_START = re.compile(rb"# v[23] git bundle\n")
_PACK = b"PACK"
_MAX_HEADER = 64 << 20
_MAX_LINE = 8 << 10
_DIGESTS = {b"sha1": "sha1", b"sha256": "sha256"}


def check(source: ByteStream, budget: Budget) -> str:
    """Read the header up to its empty line, and compare the digest of the pack."""
    algorithm = _read_header(source, budget)
    digest = hashlib.new(algorithm, usedforsecurity=False)
    if source.peek(len(_PACK)) != _PACK:
        raise BrokenContent("bundle", "The git bundle is not whole: it has no pack")
    tail = read_all_but(source, budget, digest.digest_size, digest.update)
    if tail != digest.digest():
        raise BrokenContent(
            "bundle", "The git bundle is not whole: the digest at the end of its pack is missing or wrong"
        )
    return "The git bundle is whole"


def _read_header(source: ByteStream, budget: Budget) -> str:
    """Return the name of the hash function."""
    algorithm = "sha1"
    while True:
        budget.spend()
        line, ended, _ = source.peek(_MAX_LINE).partition(b"\n")
        if not ended:
            raise BrokenContent("bundle", "The git bundle ends too early, within its header")
        if source.offset > _MAX_HEADER:
            raise NotCheckable(f"the header of the git bundle is larger than {_MAX_HEADER} bytes")
        source.skip(len(line) + 1)
        if not line:
            return algorithm
        if line.startswith(b"@object-format="):
            algorithm = _DIGESTS.get(line.partition(b"=")[2], "")
            if not algorithm:
                raise NotCheckable("the git bundle uses an unknown hash function")


FORMAT = Format(
    kind="bundle",
    label="git bundle",
    suffixes=(".bundle",),
    recognizes=lambda head: _START.match(head) is not None,
    check=check,
)
