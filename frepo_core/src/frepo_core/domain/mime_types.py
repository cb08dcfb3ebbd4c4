"""Decides which MIME types a token may upload, and which a browser may show inline."""

import re
from collections.abc import Mapping

from .identity import Identity
from .roles import Role

_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

IMAGES = frozenset(f"image/{name}" for name in ("png", "jpeg", "gif", "webp", "svg+xml", "avif", "bmp", "tiff"))
VIDEOS = frozenset(
    f"video/{name}"
    for name in (
        "mp4", "webm", "ogg", "mpeg", "quicktime", "x-msvideo", "x-ms-wmv", "x-flv", "3gpp", "mp2t", "x-matroska",
    )
) | {"application/ogg"}  # fmt: skip
DOCUMENTS = frozenset(
    {
        "application/pdf",
        "application/msword",
        "application/vnd.ms-excel",
        "application/vnd.ms-powerpoint",
        "application/vnd.ms-office",
        "application/x-ole-storage",
        f"{_OOXML}wordprocessingml.document",
        f"{_OOXML}spreadsheetml.sheet",
        f"{_OOXML}presentationml.presentation",
        f"{_ODF}text",
        f"{_ODF}spreadsheet",
        f"{_ODF}presentation",
        f"{_ODF}graphics",
        "application/json",
        "text/csv",
        "text/plain",
        "text/markdown",
    }
)
BACKUPS = frozenset(
    {
        "application/gzip",
        "application/zip",
        "application/x-tar",
        "application/x-bzip2",
        "application/x-xz",
        "application/zstd",
        "application/x-lz4",
        "application/x-lzip",
        "application/x-lzma",
        "application/x-lzop",
        "application/x-compress",
        "application/x-7z-compressed",
        "application/x-rar",
        "application/vnd.rar",
        "application/x-cpio",
        "application/x-archive",
        "application/x-iso9660-image",
        "application/vnd.debian.binary-package",
        "application/x-rpm",
        "application/java-archive",
        "application/pgp-encrypted",
        "application/pgp",
        "application/x-sql",
        "application/sql",
        "application/vnd.sqlite3",
        "application/xml",
        "text/xml",
        "text/plain",
        "text/csv",
        "application/json",
        "application/x-ndjson",
        "application/octet-stream",
    }
)

ROLE_TYPES: Mapping[Role, frozenset[str]] = {
    Role.UPLOAD_IMAGES: IMAGES,
    Role.UPLOAD_VIDEOS: VIDEOS,
    Role.UPLOAD_DOCUMENTS: DOCUMENTS,
    Role.UPLOAD_BACKUP: BACKUPS,
}

# Names that libmagic and clients use for types of the lists.
_OTHER_NAMES: Mapping[str, str] = {
    "application/x-gzip": "application/gzip",
    "application/x-zip-compressed": "application/zip",
    "application/x-zstd": "application/zstd",
    "application/csv": "text/csv",
    "application/x-sqlite3": "application/vnd.sqlite3",
    "image/x-ms-bmp": "image/bmp",
    "image/svg": "image/svg+xml",
    "video/x-m4v": "video/mp4",
    "video/3gpp2": "video/3gpp",
    "video/x-ms-asf": "video/x-ms-wmv",
}


# RFC 6838, 4.2: the names of the type and of the subtype. There are no wildcards.
_NAME = "[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]{0,126}"
_TYPE = re.compile(f"{_NAME}/{_NAME}")


def canonical_type(mime: str) -> str:
    """Return the registered or usual name of a MIME type, in lower case.

    `text/x-...` becomes plain text: the names that libmagic gives to source code depend on details of the content.
    """
    lower = mime.lower()
    return "text/plain" if lower.startswith("text/x-") else _OTHER_NAMES.get(lower, lower)


def check_type(mime: str) -> str:
    """Return the MIME type, e.g. `image/png`. Raises `ValueError` with a message for the user if it is not one."""
    if not _TYPE.fullmatch(mime):
        raise ValueError(f"{mime!r} is not a MIME type: write e.g. image/png or application/gzip")
    return mime


def is_allowed_by_token(identity: Identity, mime: str) -> bool:
    """Return whether the token's own list contains the type; an empty list allows all types."""
    return not identity.mimes or mime in map(canonical_type, identity.mimes)


def shows_inline(mime: str) -> bool:
    """Return whether a browser may show the type inline. Types that can run scripts (HTML, SVG, XML) are downloaded."""
    if mime in {"application/pdf", "text/plain"}:
        return True
    return mime.partition("/")[0] in {"image", "video", "audio"} and "xml" not in mime
