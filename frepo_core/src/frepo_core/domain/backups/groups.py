"""The names of groups of collections that are compacted together."""

import re

from frepo_core.errors import FieldsError

PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
MOST = 64
RULE = f"is a name of at most {MOST} letters, digits, dots, underscores and hyphens, and starts with a letter or digit"


def is_group(name: str) -> bool:
    """Return whether this may be the name of a group."""
    return len(name) <= MOST and re.fullmatch(PATTERN, name) is not None


def check_group(name: str | None) -> None:
    """Raise `FieldsError` unless this is the name of a group, empty (no group), or None."""
    if name and not is_group(name):
        raise FieldsError({"compact_group": [RULE]})
