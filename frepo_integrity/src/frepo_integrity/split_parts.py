"""Recognizes one part of a split file, which looks like a cut one: only all parts together can be checked."""

import re

from .detection import promises_backup
from .formats.tar_archive import BLOCK, is_tar
from .outcomes import BrokenContent, EmptyContent, Report

# 7-Zip, WinZip, WinRAR, and `split` with a name such as `part-`.
_PART = re.compile(r".+\.(?:[zr]\d{2,3}|part\d+\.(?:rar|zip|7z|exe))|(?:.*[._-])?part[._-]?(?:\d+|[a-d][a-z])")
# What `split`, 7-Zip and others add to a name; what comes before it has to be the name of a backup, or a part is the
# first one. `.1` is what a rotation of logs adds.
_NUMBERED = re.compile(r"(.+?)(?:[._-]?(?:\d{2,3}|0\d{3,}|[a-d][a-z]|aa[a-z])|[._-][a-z]{2})")
# Ends of names of whole files that look so, such as `shop.sqlar` and `shop.sql.br`.
_WHOLE = re.compile(r".+(?:\.sqlar|\.(?:bk|br|bz|db|lz|ok|xz|zz))")
_FIRST = re.compile(r"x?aa|.+\.(?:aa|00[01])")
_SPLIT_ZIP = b"PK\x07\x08PK\x03\x04"


def is_part(name: str, head: bytes) -> bool:
    """Whether a file of this name, with these first 4,096 bytes, is one part of a split one."""
    lower = name.lower()
    if head.startswith(_SPLIT_ZIP) or _is_continued_tar(head) or _PART.fullmatch(lower) or _FIRST.fullmatch(lower):
        return True
    if promises_backup(lower, is_packed=False):
        return False
    numbered = None if _WHOLE.fullmatch(lower) else _NUMBERED.fullmatch(lower)
    return numbered is not None and promises_backup(numbered[1], is_packed=False)


def excuse(broken: BrokenContent, name: str, head: bytes) -> Report:
    """Return the report about a part that was found broken.

    Raises the finding again if the content is no part, or if it is about what is in a whole container.
    """
    is_cut = broken.kind == broken.kinds[0] and broken.verdict == "broken" and not isinstance(broken, EmptyContent)
    if not is_cut or not is_part(name, head):
        raise broken
    message = "It looks like one part of a split file. Only all parts together can be checked"
    return Report(outcome="not checked", message=message, kinds=broken.kinds)


def _is_continued_tar(head: bytes) -> bool:
    """Whether a volume of `tar -M` begins here, which goes on with a file of the volume before."""
    kind = head[156:157]
    return kind in (b"M", b"g") and (kind == b"M" or b" GNU.volume." in head) and is_tar(head[:BLOCK])
