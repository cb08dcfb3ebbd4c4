"""Recognizes what is sent instead of a backup when something has failed: HTML, or the message of a program."""

import codecs
import re
from collections.abc import Iterator

HTML, TEXT = "html", "text"
# In what is longer, a program has to say first that it has failed. It is less than the first bytes that are looked at,
# so all of it is seen.
_MAX, _MAX_LINES = 4000, 25
_BLANKS = b" \t\n\r\v\f"
# The line that says what has failed is one of the first.
_FIRST_LINES = 5
_BEFORE = rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^>]*>\s*)?<"
_HTML = re.compile(_BEFORE + rb"(?:!doctype html|html|head|body)\b", re.IGNORECASE)
_XML_ERROR = re.compile(_BEFORE + rb"(?:\w+:)?(?:error|fault|errorresponse)\b", re.IGNORECASE)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
# A line of a message has one of these as a word of a sentence, and not as a value, a part of a name, or a column:
# `errors=remount-ro` of a table of disks, `Restart=on-failure` of a service and `id,status,error` of a table are none.
_FAILURE = re.compile(
    r"(?<![\w=,;-])(?:errors?|warning|fail(?:ed|ure|s)?|fatal|panic|exception|traceback|denied|refused|forbidden|unauthori[sz]ed|"
    r"unauthenticated|unavailable|unreachable|not found|no such|does not exist|not exist|cannot|can.?t|could ?n.?t|"
    r"could not|unable to|is not running|not connected|timed? ?out|bad gateway|killed|terminated|aborted|"
    r"segmentation fault|core dumped|no space left|out of memory|broken pipe|connection (?:reset|closed|lost)|"
    r"unknown (?:option|command|database|host)|unrecogni[sz]ed|invalid|illegal|usage|expired|not permitted|"
    r"not installed|too many|permission)(?![\w=-])(?![,;]\S)",
    re.IGNORECASE,
)
# What says in JSON that nothing has failed.
_NONE_FAILED = re.compile(r"\"errors?\"\s*:\s*(?:null|false|0|\"\"|\[\]|\{\})", re.IGNORECASE)
# A line of a configuration or a table: a comment, a section, a job of cron, a rule of a firewall, three columns.
_SETTING = re.compile(
    r"#(?:\s|$)|\[[A-Za-z][\w .-]*\]\s*$|[\d*][\d*/,-]*(?:\s+[\w*][\w*/,-]*){4}\s|[*:][a-zA-Z]+\b|-[A-Z] [\w-]+ |"
    r"[^\t]*\t[^\t]*\t"
)
# A statement or a row of data: what has one of these is more than a message.
_PROGRAM = re.compile(r"(?!dn: )[\w./:-]+(?:\[\d+\])?: ")
_DATA = re.compile(
    r"^\s*(?:--|/\*|dn: |\*\d+$|(?:insert|create|copy|drop|set|pragma|begin|use)\b.*)|;\s*$", re.IGNORECASE
)

# Lines in front of something else.
_TEXT = re.compile(rb"(?!#!)(?:[\t\x1b -~\x80-\xff]{0,300}\r?\n){1,60}")
# What fails says its name first, or "Error". These lines report no failure.
_REPORTER = re.compile(r"[\w./-]+(?:\[\d+\])?: |errors?\b|fatal\b", re.IGNORECASE)
_HARMLESS = re.compile(
    r"\b(?:warning|notice|note|hint|detail|info)\b|\b(?:0|no|without) (?:errors?|fail)|(?:errors?|failed)\W+0\b",
    re.IGNORECASE,
)

# What a program says before it gives up, or one that could not start it. mysqldump goes on after its other errors, and
# pg_dump has no others.
_FATAL = re.compile(
    r"pg_dump(?:all)?(?:\.exe)?: (?:error|fatal|\[.*\] .*failed): |(?:mysql|mariadb-)dump(?:\.exe)?: Got error: "
    r".* when (?:trying to connect|selecting the database)|ssh: (?:connect to host|Could not resolve hostname) |"
    r"Error (?:response from daemon:|from server \(|: no such container)|"
    r"(?:[\w./-]+: )?(?:(?:line )?\d+: )?[\w./-]*dump\w*(?:\.exe)?: (?:command )?not found"
)

# What mysqldump and mariadb-dump say within a dump when they go on after an error (--force). It has a line end, which
# no row has: they write those as `\\n`. It may be in the middle of a line, as their output is written in blocks.
_WITHIN = re.compile(
    rb"(?:mysql|mariadb-)dump(?:\.exe)?: (?:Got error: \d+: [^\n]{1,300}when using LOCK TABLES|"
    rb"Couldn't execute '[^\n]{1,300}\(\d+\)|Error:? \d+: [^\n]{1,300} at row: \d+)(?=\r?\n)"
)


# How what fails begins a long text. `level: error` of a configuration is none.
_FAILED = re.compile(
    r"(?:[\w./-]+(?:\[\d+\])?: )+.*(?:\b(?:error|fatal|panic): |\bcannot |\bcould not |\bcan't |\bno such file|"
    r"\b(?:permission|access) denied|\bconnection refused|\bno space left|\bnot found$)|"
    r"(?:error|fatal|panic)\b(?: \d+.*)?: |traceback \(most recent call last\)",
    re.IGNORECASE,
)


def recognize(head: bytes) -> str | None:
    """Return `html` or `text` if a content with these first 4,096 bytes is a page or a message, else None."""
    if _HTML.match(head):
        return HTML
    if _XML_ERROR.match(head):
        return TEXT
    if not head or _CONTROL.search(head):
        return None
    if not head.strip():  # the line end that `echo "$DUMP"` adds to a dump that failed
        return TEXT
    lines = _lines(head)
    if any(_DATA.search(line) for line in lines if not _PROGRAM.match(line)):
        return None
    if len(head) > _MAX or len(lines) > _MAX_LINES:
        return TEXT if _reports_failure(lines[:_FIRST_LINES]) else None
    if any(_SETTING.match(line) for line in lines):  # then a program has to say that it has failed
        lines = [line for line in lines[:_FIRST_LINES] if _REPORTER.match(line)]
    return TEXT if _find_failure(lines) else None


def look_at(head: bytes) -> str:
    """Return what a content of no known format looks like by its first 4,096 bytes: `data`, `plain text` or `log`.

    A log is a text in which a program reports an error. What is not UTF-8 may be a text or not: it counts as data.
    """
    if _CONTROL.search(head):
        return "data"
    if _reports_failure(_lines(head)):
        return "log"
    return "plain text" if _is_utf8(head) else "data"


def _is_utf8(head: bytes) -> bool:
    """Return whether the bytes are UTF-8, except for a character that is cut at their end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _reports_failure(lines: list[str]) -> bool:
    return any(_FAILED.match(line) and not _HARMLESS.search(line) for line in lines)


def find_error(text: bytes) -> str:
    """Return the first line in which a program reports an error behind a dump, in at most 150 characters, or ''."""
    lines = [line for line in _lines(text) if _REPORTER.match(line) and not _HARMLESS.search(line)]
    return next((_clean(line) for line in lines if _FAILURE.search(line)), "")


def find_fatal(text: bytes) -> str:
    """Return the first line in which a program for dumps gives up, in at most 150 characters, or ''."""
    return next((_clean(line) for line in _lines(text) if _FATAL.match(line)), "")


def find_skipped(dump: bytes) -> str:
    """Return the message in a dump of mysqldump or mariadb-dump that it skips something, or ''."""
    match = _WITHIN.search(dump) if b"dump" in dump else None
    return _clean(match[0].decode("utf-8", "replace")) if match else ""


def split_text(head: bytes) -> Iterator[tuple[str, str, bytes]]:
    """Yield what may be a message at the start, and what follows it.

    First its first line that warns or says what failed, or an empty text, then its first line with a letter.
    """
    text = _TEXT.match(head)
    ends = [match.end() for match in re.finditer(rb"\n", text[0])] if text else []
    for end in ends:
        lines = _lines(head[:end])
        failure = _find_failure([line for line in lines if _REPORTER.match(line)])
        first = next((line for line in lines if re.search(r"[^\W\d_]", line)), "")
        yield _clean(failure or ""), _clean(first), head[end:]


def is_repeated(data: bytes) -> bool:
    """Whether there is only one byte again and again, such as the zeros of a file that was never written, or blanks."""
    return len(data) > 1 and not data.strip(_BLANKS if data[:1] in _BLANKS else data[:1])


def describe(head: bytes, kind: str) -> str:
    """Return a sentence about a content that `recognize` has recognized."""
    if kind == HTML:
        return "It is a page of HTML, where a backup should be"
    if not head.strip():
        return "There are only line ends and blanks, where a backup should be"
    if is_repeated(head):
        return f"There is only the byte {head[0]:#04x} again and again, where a backup should be"
    lines = _lines(head)
    line = _find_failure(lines) or lines[0]
    return f"It is a message, where a backup should be: {_clean(line)}"


def _clean(line: str) -> str:
    text = "".join(letter if letter.isprintable() else " " for letter in line)
    return " ".join(text.split())[:150]


def _lines(head: bytes) -> list[str]:
    """Return the lines that are not empty."""
    return [line for line in head.decode("utf-8", "replace").splitlines() if line.strip()]


def _find_failure(lines: list[str]) -> str | None:
    return next((line for line in lines[:_FIRST_LINES] if _FAILURE.search(_NONE_FAILED.sub("", line))), None)
