"""What the errors of the client mean: the dump is broken, something is missing here, or nothing is lost."""

import re

from frepo_core.plugins import NotDecided, NotRestored

_ERROR = re.compile(r"^ERROR(?: (\d+) \(\w+\))?(?: at line \d+)?(?: in file: .*?)?: (.+)$", re.MULTILINE)
# Where a replica continues, and what is in the binary log: all data is there without that.
_REPLICATION = re.compile(r"Access denied; you need .*\b(?:REPLICATION|BINLOG)\b")
# Rights, programs of the server, and its limits. None of them says anything about the dump.
_MISSING = {
    *("1044", "1045", "1142", "1143", "1227", "1370", "4166"),  # a right
    *("1115", "1273", "1286", "1126", "1127", "1128", "1305", "1524", "1193", "4031"),  # a part of the server
    *("1021", "1026", "1030", "1037", "1041", "1114", "1153", "1206"),  # room
    *("2002", "2006", "2013", "2020", "1053"),  # the server itself
}
_IN_SANDBOX = "sandbox"


def judge_errors(text: str, version: str) -> str:
    """Return what was left out, in a sentence; empty for nothing. Raises `NotRestored` and `NotDecided`.

    What is missing here comes first: most other errors follow from it.
    """
    errors = _ERROR.findall(text)
    left = [(code, message) for code, message in errors if not _REPLICATION.search(message)]
    for code, message in left:
        if code in _MISSING or _IN_SANDBOX in message:
            raise NotDecided(f"this needs what is not here: {message}")
    if left:
        more = f", and {len(left) - 1} more errors" if len(left) > 1 else ""
        raise NotRestored(f"MariaDB {version} says: {left[0][1]}{more}")
    return f"{len(errors)} statements about replication were left out" if errors else ""
