"""Recognizes the format of a content by its first bytes. The name only helps where there are too few of them."""

from dataclasses import dataclass

from .formats import sql_dump, tar_archive
from .formats.codecs import CODECS
from .formats.compressed import is_skippable
from .formats.single_pass import FORMATS
from .formats.sql_programs import Program

HEAD = 4096
ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08PK\x03\x04")

_SUFFIXES = {
    "gzip": (".gz", ".tgz"),
    "bzip2": (".bz2", ".tbz2", ".tbz"),
    "xz": (".xz", ".txz"),
    "zstd": (".zst", ".tzst"),
    "lz4": (".lz4",),
    "zip": (".zip",),
    "tar": (".tar",),
    "sql": (".sql",),
} | {kind: found.suffixes for kind, found in FORMATS.items()}
# Ends of names of backups whose format they do not say.
_BACKUPS = (".dump", ".dmp", ".bak", ".backup", ".tgz", ".archive")
# Ends of names of texts, in which error messages and HTML are at home.
_TEXTS = (
    *(".html", ".htm", ".xhtml", ".txt", ".log", ".out", ".err", ".csv", ".tsv", ".json", ".jsonl", ".xml", ".md"),
    *(".conf", ".cfg", ".ini", ".yml", ".yaml", ".toml", ".eml", ".mbox", ".ldif", ".rst", ".svg", ".php", ".js"),
)
# Of those, in which a message among other contents is nothing new.
_MESSAGES = (".html", ".htm", ".xhtml", ".txt", ".log", ".out", ".err", ".md", ".eml", ".mbox", ".rst", ".php")
_SHORT_FOR_TAR = (".tgz", ".tbz2", ".tbz", ".txz", ".tzst")
_STARTS = {name: codec.starts for name, codec in CODECS.items()} | {"zip": ZIP_STARTS}


@dataclass(frozen=True, kw_only=True)
class Detected:
    """A format: `kind` is one of the kinds of the settings; `program` is the program that wrote a dump in SQL."""

    kind: str
    program: Program | None = None


def detect(head: bytes) -> Detected | None:
    """Return the format of a content with these first 4,096 bytes, or None if it is unknown."""
    for name, starts in _STARTS.items():
        if head.startswith(starts):
            return Detected(kind=name)
    if is_skippable(head):
        return _after_skippable(head)
    if kind := next((kind for kind, found in FORMATS.items() if found.recognizes(head)), None):
        return Detected(kind=kind)
    if tar_archive.is_tar(head[: tar_archive.BLOCK]):
        return Detected(kind="tar")
    if program := sql_dump.recognize(head):
        return Detected(kind="sql", program=program)
    return None


def _after_skippable(head: bytes) -> Detected | None:
    """Return zstd or lz4 by the first frame that is not skippable. Both formats share the skippable ones."""
    position = 0
    while is_skippable(head[position:]):
        position += 8 + int.from_bytes(head[position + 4 : position + 8], "little")
    return next((Detected(kind=name) for name in ("zstd", "lz4") if head.startswith(_STARTS[name], position)), None)


def kind_of_name(name: str) -> str | None:
    """Return the kind that a file name promises, or None."""
    lower = name.lower()
    return next((kind for kind, suffixes in _SUFFIXES.items() if lower.endswith(suffixes)), None)


def promises_backup(name: str, *, is_packed: bool) -> bool:
    """Whether a content of this name should be a dump or an archive. What is packed should, unless it is a text."""
    lower = name.lower()
    if kind_of_name(name) or lower.endswith(_BACKUPS):
        return True
    return is_packed and bool(name) and not lower.endswith(_TEXTS)


def keeps_messages(name: str) -> bool:
    """Whether a file of this name is a log, a page, or the like."""
    return name.lower().endswith(_MESSAGES)


def is_text(kind: str) -> bool:
    """Whether a content of this kind may be a text: dumps in SQL, and armor."""
    return kind in {"sql", "openpgp", "age"}


def inner_name(name: str) -> str:
    """Return the name of the content of a compressed file: `db.sql.gz` contains `db.sql`."""
    stem = name.rpartition(".")[0]
    return f"{stem}.tar" if name.lower().endswith(_SHORT_FOR_TAR) else stem


def encrypts_backup(name: str) -> bool:
    """Whether an encrypted content of this name should hold a dump or an archive: `db.sql.gpg` should."""
    return promises_backup(inner_name(name), is_packed=False)


def is_cut_start(content: bytes, kind: str) -> bool:
    """Whether this content is shorter than the first bytes of its kind, so that it cannot be whole.

    `content` is the first 4,096 bytes, or all of a shorter content.
    """
    if kind == "tar":
        return len(content) < tar_archive.BLOCK
    return any(start.startswith(content) for start in _STARTS.get(kind, ()))
