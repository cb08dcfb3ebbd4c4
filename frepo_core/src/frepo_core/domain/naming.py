"""Names of files, tags, labels and blobs: which are valid, and how stored names and version names are made."""

import hashlib
import re
import secrets
import unicodedata
from urllib.parse import unquote

FILE_NAME_PROBLEM = "File name is not valid, please normalize it"
TAG_PROBLEM = "Tag is not valid: use 1 to 64 letters, digits, dots, dashes and underscores"
TOKEN_NAME_PROBLEM = "A token's name has 1 to 128 printable characters, and no space at its ends"

MAX_FILE_NAME = 200
MAX_TOKEN_NAME = 128
# A character in NFC is at most four in other forms. Longer runs of marks would take long to normalize.
_MAX_NOT_NORMAL = 4 * MAX_FILE_NAME
_SIGNS = frozenset(" .-_+()[]!,@$'&%#~=")
_FURTHER_SIGNS = frozenset(":\N{ZERO WIDTH JOINER}")  # the second one joins emoji to one
_LETTERS_MARKS_DIGITS = frozenset("LMN")  # the first letters of Unicode's general categories
# Names of these characters are stored unchanged.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9.\-_+ ()\[\]!,@$]+")
_NOT_STORED = re.compile(r"[^A-Za-z0-9.\-_]+")
# The column holds 255 characters; ten are the prefix. The last part holds the version's number and the extension.
_STORED_START, _STORED_END = 180, 65
_TAG = re.compile(r"[\w.\-]{1,64}")
# At most one leading digit, as in .7z and .3gp: the 6 in 9.6 is not an extension.
_EXTENSION = re.compile(r"\.[0-9]?[A-Za-z][A-Za-z0-9]{0,9}")
_WRAPPERS = frozenset(
    {".gz", ".bz2", ".xz", ".zst", ".lz4", ".lz", ".lzma", ".br", ".z", ".gpg", ".pgp", ".age", ".enc", ".7z"}
)
_KEY = re.compile(r"([0-9a-f]{2})/([0-9a-f]{64})-[0-9a-f]{16}")
# The folders of the journal and the catalogues, see `services/upkeep/journal`.
JOURNAL_FOLDERS = ("journal", "catalogue")
_OPAQUE_KEY = re.compile(r"([0-9a-f]{2})/\1[0-9a-f]{110}")
_JOURNAL_KEY = re.compile(r"(?:journal/|catalogue/[0-9]{8}T[0-9]{6}Z-)[0-9a-f]{8}-[0-9a-f]{8}")
_NUMBERED = re.compile(r"v([1-9][0-9]{0,18})", re.IGNORECASE | re.ASCII)


def check_file_name(name: str, *, may_have_symbols: bool = True) -> str:
    """Return the name in NFC (UAX 15). Raises `ValueError` with a message for the client if it is not valid.

    `may_have_symbols` allows a colon, as in the times of names of dumps, and symbols such as emoji. The first API
    refuses them.
    """
    normal = unicodedata.normalize("NFC", name) if len(name) <= _MAX_NOT_NORMAL else ""
    is_plain = _PLAIN_NAME.fullmatch(normal) is not None  # most names are; looking at each character takes longer
    may_be_in_name = _may_be_in_name_with_symbols if may_have_symbols else _may_be_in_name
    is_allowed = 1 <= len(normal) <= MAX_FILE_NAME and (is_plain or all(map(may_be_in_name, normal)))
    if not is_allowed or normal in {".", ".."} or normal != normal.strip():
        raise ValueError(FILE_NAME_PROBLEM)
    return normal


def _may_be_in_name(character: str) -> bool:
    return character in _SIGNS or unicodedata.category(character)[0] in _LETTERS_MARKS_DIGITS


def _may_be_in_name_with_symbols(character: str) -> bool:
    is_symbol = not character.isascii() and unicodedata.category(character)[0] == "S"
    return is_symbol or character in _FURTHER_SIGNS or _may_be_in_name(character)


def check_tag(tag: str) -> str:
    """Return the tag in lower case. Raises `ValueError` with a message for the client if it is not valid."""
    if _TAG.fullmatch(tag):
        lower = tag.lower()  # may be longer and have other characters than letters, e.g. for a dotted capital I
        if _TAG.fullmatch(lower):
            return lower
    raise ValueError(TAG_PROBLEM)


def check_token_name(name: str) -> str:
    """Return the name in NFC (UAX 15). Raises `ValueError` with a message for the client if it is not valid."""
    normal = unicodedata.normalize("NFC", name) if len(name) <= 4 * MAX_TOKEN_NAME else ""
    if not 1 <= len(normal) <= MAX_TOKEN_NAME or not normal.isprintable() or normal != normal.strip():
        raise ValueError(TOKEN_NAME_PROBLEM)
    return normal


def name_from_url(url: str) -> str:
    """Return the last part of the URL's path without characters that a file name may not have, or `file`."""
    path = re.split("[?#]", url, maxsplit=1)[0].partition("://")[2].partition("/")[2]
    last = unquote(path).rstrip("/").rpartition("/")[2]
    normal = unicodedata.normalize("NFC", last[-_MAX_NOT_NORMAL:])
    cleaned = re.sub("/+", "_", "".join(c if _may_be_in_name(c) else "/" for c in normal))[-MAX_FILE_NAME:].strip()
    return cleaned if cleaned.strip("._ ") else "file"


def stored_name(digest: str, name: str, attempt: int = 0) -> str:
    """Return the public name of a file: ten hex digits of its content's digest, then its own name in ASCII.

    If the name is taken, the caller raises `attempt`: the digits then come from SHA-256(digest ‖ attempt).
    """
    prefix = hashlib.sha256(f"{digest}{attempt}".encode()).hexdigest() if attempt else digest
    return prefix[:10] + ascii_name(name)


def ascii_name(name: str) -> str:
    """Return the name in ASCII letters, digits and `. - _`, at most 245 characters.

    Names of ASCII letters, digits, space and `. - _ + ( ) [ ] ! , @ $` are not changed.
    """
    if _PLAIN_NAME.fullmatch(name):
        return name
    plain = transliterate(name)
    if not plain.strip("._-"):
        return "file"
    if len(plain) > _STORED_START + _STORED_END:
        return plain[:_STORED_START] + plain[-_STORED_END:]
    return plain


def transliterate(text: str) -> str:
    """Return the text in ASCII letters, digits and `. - _`."""
    if not text.isascii():
        from anyascii import anyascii  # slow to import, and few names need it

        text = anyascii(text)
    return _NOT_STORED.sub("_", text)


def version_name(filename: str, number: int) -> str:
    """Insert `-v<number>` before the extension; `.sql.gz` counts as one extension."""
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


def new_blob_key(digest: str) -> str:
    """Return a unique key for a new blob: the content's SHA-256, to verify the bytes, and a random part."""
    return f"{digest[:2]}/{digest}-{secrets.token_hex(8)}"


def parse_digest_in_key(key: str) -> str | None:
    """Return the digest in a key that `new_blob_key` made, None for any other key."""
    match = _KEY.fullmatch(key)
    return match[2] if match and match[1] == match[2][:2] else None


def is_journal_key(key: str) -> bool:
    """Return whether this is the key of a part of the journal or of a catalogue. They are no blobs."""
    return _JOURNAL_KEY.fullmatch(key) is not None


def is_opaque_key(key: str) -> bool:
    """Return whether this is a key that a storage over another one may have made, so that it shows no digest."""
    return _OPAQUE_KEY.fullmatch(key) is not None


def printable(text: str) -> str:
    """Return a foreign text with unprintable characters escaped, so that any terminal can show it."""
    text = text.encode("utf-8", "backslashreplace").decode()
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)
