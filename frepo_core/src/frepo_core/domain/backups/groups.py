"""The names of groups of collections that are compacted together."""

import re

from frepo_core.errors import FieldsError

PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
MOST = 64


def check_group(name: str | None) -> None:
    """Raise `FieldsError` unless this is the name of a group, empty (no group), or None."""
    if name and (len(name) > MOST or not re.fullmatch(PATTERN, name)):
        text = f"is a name of at most {MOST} letters, digits, dots, underscores and hyphens"
        raise FieldsError({"compact_group": [text]})
