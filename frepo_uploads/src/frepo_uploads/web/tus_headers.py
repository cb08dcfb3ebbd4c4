"""The headers of tus 1.0: what requests mean, and what answers say. Nothing here reads a file or a database."""

import base64
import binascii
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime

from frepo_core.plugins import EndpointError

VERSION = "1.0.0"
EXTENSIONS = "creation,creation-with-upload,creation-defer-length,expiration,termination,checksum"
ALGORITHMS = ("sha256", "sha1")
MEDIA = "application/offset+octet-stream"
# The largest size that the database of a service keeps.
MAX_SIZE = 2**63 - 1
_NUMBER = re.compile("[0-9]{1,19}")
_KEY = re.compile(r"[!-+\--~]+")  # ASCII without blanks and commas


class HeaderError(EndpointError):
    """A header is missing or wrong."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(status, message)


@dataclass(frozen=True, kw_only=True)
class Checksum:
    """The digest that a client sends with a part."""

    algorithm: str
    digest: bytes

    def new_hash(self) -> "hashlib._Hash":
        """Return a hash to fill with the part."""
        return hashlib.new(self.algorithm, usedforsecurity=False)


@dataclass(frozen=True, kw_only=True)
class CreationHead:
    """The head of a POST. `length` is in bytes, None if the client will say it later.

    `key` is its Idempotency-Key: the client may have sent the same before, and got no answer; None with a part.
    `coding` is its Content-Encoding, which all parts together are in; None without one.
    """

    length: int | None
    metadata: Mapping[str, str]
    commit_required: bool
    has_part: bool
    checksum: Checksum | None
    key: str | None = None
    coding: str | None = None


@dataclass(frozen=True, kw_only=True)
class PartHead:
    """The head of a PATCH: where the part begins, and the length of the upload if it is announced now."""

    offset: int
    length: int | None
    checksum: Checksum | None


def check_version(headers: Mapping[str, str]) -> None:
    """Raise `HeaderError` with 412 for another version of the protocol (tus 1.0, Tus-Resumable)."""
    if headers.get("Tus-Resumable") != VERSION:
        raise HeaderError(f"The header Tus-Resumable must be {VERSION}, the version of tus that this service has", 412)


def parse_creation(headers: Mapping[str, str], coding: str | None = None) -> CreationHead:
    """Parse the head of a POST with this Content-Encoding. Raises `HeaderError`."""
    length = _number(headers, "Upload-Length")
    deferred = headers.get("Upload-Defer-Length")
    if deferred not in {None, "1"}:
        raise HeaderError("The header Upload-Defer-Length can only be 1")
    if (length is None) == (deferred is None):
        raise HeaderError("Send either Upload-Length, the size of the upload in bytes, or Upload-Defer-Length: 1")
    if headers.get("Upload-Concat"):
        raise HeaderError("Uploads cannot be concatenated: this service does not have that extension of tus")
    commit = headers.get("Upload-Commit", "")
    if commit not in {"", "required"}:
        raise HeaderError("The header Upload-Commit can only be `required`")
    media = _media(headers)
    if media not in {"", MEDIA} and _size_of_body(headers) != 0:
        raise HeaderError(f"The Content-Type of a part must be {MEDIA}", 415)
    has_part = media == MEDIA
    return CreationHead(
        length=length,
        metadata=parse_metadata(headers.get("Upload-Metadata", "")),
        commit_required=commit == "required",
        has_part=has_part,
        checksum=parse_checksum(headers) if has_part else None,
        key=None if has_part else headers.get("Idempotency-Key"),
        coding=coding,
    )


def parse_part(headers: Mapping[str, str]) -> PartHead:
    """Parse the head of a PATCH. Raises `HeaderError`."""
    if _media(headers) != MEDIA:
        raise HeaderError(f"The Content-Type of a part must be {MEDIA}", 415)
    offset = _number(headers, "Upload-Offset")
    if offset is None:
        raise HeaderError("The header Upload-Offset is missing: it says where the part begins")
    return PartHead(offset=offset, length=_number(headers, "Upload-Length"), checksum=parse_checksum(headers))


def parse_metadata(text: str) -> dict[str, str]:
    """Parse Upload-Metadata: pairs of a key and a value in base64, divided by commas. Raises `HeaderError`.

    A key alone has an empty value. A value that is not UTF-8 is refused.
    """
    found: dict[str, str] = {}
    for pair in text.split(",") if text.strip() else []:
        key, _, encoded = pair.strip().partition(" ")
        if not _KEY.fullmatch(key):
            raise HeaderError("The header Upload-Metadata has a pair without a key, or a key that is not ASCII")
        if key in found:
            raise HeaderError(f"The header Upload-Metadata has the key {key!r} twice")
        try:
            found[key] = base64.b64decode(encoded.strip(), validate=True).decode()
        except ValueError:  # binascii.Error and UnicodeDecodeError are
            raise HeaderError(f"In the header Upload-Metadata, the value of {key!r} is not UTF-8 in base64") from None
    return found


def parse_checksum(headers: Mapping[str, str]) -> Checksum | None:
    """Parse Upload-Checksum, None without it. Raises `HeaderError`."""
    if not (text := headers.get("Upload-Checksum", "").strip()):
        return None
    algorithm, _, encoded = text.partition(" ")
    if algorithm not in ALGORITHMS:
        known = " and ".join(ALGORITHMS)
        raise HeaderError(f"The header Upload-Checksum names an unknown algorithm: this service knows {known}")
    try:
        digest = base64.b64decode(encoded.strip(), validate=True)
    except binascii.Error:
        digest = b""
    if len(digest) != hashlib.new(algorithm, usedforsecurity=False).digest_size:
        raise HeaderError(f"The header Upload-Checksum has no digest of {algorithm} in base64")
    return Checksum(algorithm=algorithm, digest=digest)


def _number(headers: Mapping[str, str], name: str) -> int | None:
    """Return the number in a header, None without it. Raises `HeaderError` for anything else."""
    text = headers.get(name)
    if text is None:
        return None
    if not _NUMBER.fullmatch(text.strip()) or int(text) > MAX_SIZE:
        raise HeaderError(f"The header {name} must be a number of bytes from 0 to {MAX_SIZE}")
    return int(text)


def _media(headers: Mapping[str, str]) -> str:
    return headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _size_of_body(headers: Mapping[str, str]) -> int | None:
    if "Transfer-Encoding" in headers:
        return None
    text = headers.get("Content-Length") or "0"
    return int(text) if _NUMBER.fullmatch(text) else None


RESUMABLE: Mapping[str, str] = {"Tus-Resumable": VERSION}
ERROR_HEADERS: Mapping[str, str] = {**RESUMABLE, "Tus-Version": VERSION, "Cache-Control": "no-store"}


def option_headers() -> dict[str, str]:
    """Return the headers of the answer to OPTIONS."""
    return {
        **RESUMABLE,
        "Tus-Version": VERSION,
        "Tus-Extension": EXTENSIONS,
        "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
    }


def answer_headers(*, offset: int | None = None, expires: datetime | None = None) -> dict[str, str]:
    """Return the headers of an answer about an upload; `expires` is in UTC (aware)."""
    found = {**RESUMABLE, "Cache-Control": "no-store"}
    if offset is not None:
        found["Upload-Offset"] = str(offset)
    if expires is not None:
        found["Upload-Expires"] = format_datetime(expires.astimezone(UTC).replace(microsecond=0), usegmt=True)
    return found


def format_metadata(metadata: Mapping[str, str]) -> str:
    """Return Upload-Metadata with these pairs."""
    return ",".join(
        f"{key} {base64.b64encode(value.encode()).decode()}" if value else key for key, value in metadata.items()
    )
