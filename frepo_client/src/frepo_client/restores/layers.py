"""Undoing encryption and compression, which are recognised by the first bytes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from ..programs import through


@dataclass(frozen=True)
class Layer:
    """A format: how it begins, the suffixes of its files, and the program that undoes it."""

    begins: tuple[bytes, ...]
    suffixes: tuple[str, ...]
    command: tuple[str, ...]

    def matches(self, first: bytes) -> bool:
        """Whether content that begins so has this format."""
        return first.startswith(self.begins) or (self is _GPG and _is_encrypted_message(first))


_AGE = Layer((b"age-encryption.org/v1", b"-----BEGIN AGE ENCRYPTED FILE"), (".age",), ("age", "--decrypt"))
_GPG = Layer((b"-----BEGIN PGP MESSAGE",), (".gpg", ".pgp", ".asc"), ("gpg", "--batch", "--quiet", "--decrypt"))
_COMPRESSED = (
    Layer((b"\x1f\x8b",), (".gz", ".tgz"), ("gzip", "-dc")),
    Layer((b"\x28\xb5\x2f\xfd",), (".zst", ".zstd"), ("zstd", "-dcq")),
    Layer((b"\xfd7zXZ\x00",), (".xz",), ("xz", "-dc")),
    Layer((b"BZh",), (".bz2",), ("bzip2", "-dc")),
)
LAYERS = (_AGE, _GPG, *_COMPRESSED)
# People encrypt what they have compressed, sometimes twice.
MOST = 6


def undo_layers(pieces: Iterator[bytes], *, identities: Sequence[str] = (), keep: str = "") -> Iterator[bytes]:
    """Yield the content without encryption and compression.

    `identities` are files with keys for age. A layer that the file name `keep` names is kept, `shop.sql.gz`: gzip.
    Raises `UsageError` for content with too many layers: each is a process, and content can be made that unpacks to
    itself.
    """
    return _undo(pieces, identities, keep, MOST)


def _undo(pieces: Iterator[bytes], identities: Sequence[str], keep: str, left: int) -> Iterator[bytes]:
    first = next(pieces, b"")
    whole = itertools.chain([first], pieces)
    layer = find_layer(first, keep=keep)
    if layer is None:
        return whole
    if not left:
        raise UsageError(f"the content is compressed or encrypted more than {MOST} times; get it as it is with --raw")
    command = list(layer.command)
    if layer is _AGE:
        if not identities:
            raise UsageError("the content is encrypted with age; name the file with your key: --identity FILE")
        command += [word for identity in identities for word in ("--identity", identity)]
    return _undo(through(command, whole), identities, keep, left - 1)


def find_layer(first: bytes, *, keep: str = "") -> Layer | None:
    """Return the outermost layer of content that begins so, None if there is none to undo."""
    return next((one for one in LAYERS if one.matches(first) and not keep.endswith(one.suffixes)), None)


def is_encrypted(path: str) -> bool:
    """Return whether a file is encrypted by age or gpg. Raises `UsageError` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return find_layer(file.read(64)) in {_AGE, _GPG}
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None


def _is_encrypted_message(first: bytes) -> bool:
    """Whether the first packet holds a session key, in a version that exists (RFC 9580, 4.2, 5.1 and 5.3)."""
    if len(first) < 8 or not first[0] & 0x80:
        return False
    if first[0] & 0x40:
        tag, at = first[0] & 0x3F, 2 if first[1] < 192 else 3 if first[1] < 224 else 6
    else:
        tag, at = (first[0] >> 2) & 0x0F, {0: 2, 1: 3, 2: 5}.get(first[0] & 3, 1)
    return (tag == 1 and first[at] in {3, 6}) or (tag == 3 and first[at] in {4, 5, 6})
