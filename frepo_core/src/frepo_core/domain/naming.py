"""Names: what a client may call a file, a tag and a blob, and how stored names and version names come about."""

import hashlib
import re
import secrets
from urllib.parse import unquote

FILE_NAME_PROBLEM = "File name is not valid, please normalize it"
TAG_PROBLEM = "Tag is not valid: use 1 to 64 letters, digits, dots, dashes and underscores"

_FILE_NAME = re.compile(r"[A-Za-z0-9.\-_+ ()\[\]!,@$]{1,200}")
_TAG = re.compile(r"[\w.\-]{1,64}")
# At most one digit leads, as in .7z and .3gp: what follows the dot of 9.6 is no extension.
_EXTENSION = re.compile(r"\.[0-9]?[A-Za-z][A-Za-z0-9]{0,9}")
_WRAPPERS = frozenset(
    {".gz", ".bz2", ".xz", ".zst", ".lz4", ".lz", ".lzma", ".br", ".z", ".gpg", ".pgp", ".age", ".enc", ".7z"}
)
_KEY = re.compile(r"([0-9a-f]{2})/([0-9a-f]{64})-[0-9a-f]{16}")
_NUMBERED = re.compile(r"v([1-9][0-9]{0,18})", re.IGNORECASE | re.ASCII)


def check_file_name(name: str) -> str:
    """Return the name; raises `ValueError` with the text for the client where it is not allowed."""
    if not _FILE_NAME.fullmatch(name) or name in {".", ".."} or name != name.strip():
        raise ValueError(FILE_NAME_PROBLEM)
    return name


def check_tag(tag: str) -> str:
    """Return the tag in lower case; raises `ValueError` where it is not allowed."""
    lower = tag.lower()  # which may be longer, and hold what is no letter, e.g. for a dotted capital I
    if not _TAG.fullmatch(tag) or not _TAG.fullmatch(lower):
        raise ValueError(TAG_PROBLEM)
    return lower


def name_from_url(url: str) -> str:
    """Return the last part of the URL's path, cleaned to what a file name may hold; `file` where nothing is left."""
    path = re.split("[?#]", url, maxsplit=1)[0].partition("://")[2].partition("/")[2]
    last = unquote(path).rstrip("/").rpartition("/")[2]
    cleaned = re.sub(r"[^A-Za-z0-9.\-_+ ()\[\]!,@$]+", "_", last)[-200:].strip()
    return cleaned if cleaned.strip("._ ") else "file"


def stored_name(digest: str, name: str, attempt: int = 0) -> str:
    """Return the public name of a file: ten hex digits of its content's digest, then its own name.

    From the second attempt on (the first name is taken) the digits come from SHA-256(digest ‖ attempt).
    """
    prefix = hashlib.sha256(f"{digest}{attempt}".encode()).hexdigest() if attempt else digest
    return prefix[:10] + name


def version_name(filename: str, number: int) -> str:
    """Put `-v<number>` before the extension; `.sql.gz` and its like stay whole."""
    stem, extension = filename, ""
    while match := _EXTENSION.fullmatch(stem[max(stem.rfind("."), 0) :]):
        if len(match[0]) == len(stem):
            break
        stem, extension = stem[: -len(match[0])], match[0] + extension
        if match[0].lower() not in _WRAPPERS:
            break
    return f"{stem}-v{number}{extension}"


def parse_version_number(text: str) -> int | None:
    """Return N for `v<N>`, None for anything else."""
    match = _NUMBERED.fullmatch(text)
    return int(match[1]) if match and int(match[1]) < 2**63 else None


def fresh_key(digest: str) -> str:
    """Return a key of its own for one put: the digest in it lets bytes be checked, the nonce keeps puts apart."""
    return f"{digest[:2]}/{digest}-{secrets.token_hex(8)}"


def digest_in_key(key: str) -> str | None:
    """Return the digest that a key made by `fresh_key` carries, None for any other key."""
    match = _KEY.fullmatch(key)
    return match[2] if match and match[1] == match[2][:2] else None
