"""What the formats of a content, as checks name them, say about it: how it is packed, and which program wrote it."""

from ..structs import struct
from .verdicts import Verdict

ARCHIVE = "archive"
ENCRYPTED = "encrypted"
_COMPRESSIONS = frozenset({"gzip", "bzip2", "xz", "zstd", "lz4", "lzip", "lzma", "compress"})
_ARCHIVES = frozenset({"tar", "zip", "cpio", "7z", "7-zip", "sevenzip", "squashfs", "rar"})
_ENCRYPTIONS = frozenset({"age", "openpgp", "gpg", "pgp"})
# What errors look like where a backup is expected.
_MESSAGES = frozenset({"text", "html"})
# What a content of no known format looks like: it is no text; it is one; it is one in which a program reports an error.
DATA, PLAIN_TEXT, LOG = "data", "plain text", "log"
_UNKNOWN = frozenset({DATA, PLAIN_TEXT, LOG})
_NO_BACKUPS = _MESSAGES | _UNKNOWN | {"empty"}


@struct
class ContentKind:
    """What a content is: its formats from the outside in, the database that it names, and its verdict.

    `database` is empty if it is not known. Where a check does not know the innermost format, it may say `data`,
    `plain text` or `log` in its place.
    """

    kinds: tuple[str, ...] = ()
    database: str = ""
    verdict: Verdict = Verdict.UNCHECKED

    @property
    def name(self) -> str:
        """The innermost format, if it says what the content is.

        Empty for a compression with an unknown content, for text, HTML, and an empty content.
        """
        last = self.kinds[-1] if self.kinds else ""
        return "" if last.lower() in _COMPRESSIONS | _NO_BACKUPS else last

    @property
    def formats(self) -> tuple[str, ...]:
        """The formats that are known, from the outside in."""
        return self.kinds[:-1] if self.look else self.kinds

    @property
    def look(self) -> str:
        """What a content of an unknown format looks like: `data`, `plain text` or `log`; empty if that is not known."""
        return self.kinds[-1] if self.kinds and self.kinds[-1] in _UNKNOWN else ""

    @property
    def is_text(self) -> bool:
        """Whether the content is a text of no known format, a message among them."""
        return self.is_message or self.look in {PLAIN_TEXT, LOG}

    @property
    def compression(self) -> str:
        """The compression in which the whole content was sent; empty for none."""
        first = self.kinds[0] if self.kinds else ""
        return first if first.lower() in _COMPRESSIONS else ""

    @property
    def is_message(self) -> bool:
        """Whether the content is a page of HTML, the message of a program, or one byte again and again."""
        return bool(self.kinds) and self.kinds[-1] in _MESSAGES

    @property
    def family(self) -> str:
        """What may replace each other: archives, encrypted contents, or the formats of one program; empty if unknown.

        A format's program is the first word of its name: `PostgreSQL dump` and `PostgreSQL archive` are of one.
        """
        name = self.name.lower()
        if name in _ARCHIVES:
            return ARCHIVE
        if name in _ENCRYPTIONS:
            return ENCRYPTED
        return name.partition(" ")[0]

    def __str__(self) -> str:
        """Return the formats for people, the innermost first: `PostgreSQL dump in gzip`."""
        return " in ".join(reversed(self.formats)) or "an unknown format"
