"""The rules for labels of versions, and for the note that a plug-in gives one."""

import re
from collections.abc import Mapping
from typing import Any

MOST, LONGEST, LONGEST_NOTE = 20, 200, 1000
_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,63}")


def check_labels(labels: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels, by name. Raises `ValueError` or `TypeError`."""
    if not isinstance(labels, Mapping) or not all(isinstance(one, str) for pair in labels.items() for one in pair):
        raise TypeError("Labels are names with values, and both are texts")
    if len(labels) > MOST:
        raise ValueError(f"A version has at most {MOST} labels")
    for name, value in labels.items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!r:.100} is no name of a label: write small letters, digits and - _ . (at most 64)")
        if not 1 <= len(value) <= LONGEST or not value.isprintable():
            raise ValueError(f"The label {name!r} needs a printable value of at most {LONGEST} characters")
    return dict(labels)


def check_note(note: str) -> str:
    """Return the note. Raises `ValueError`."""
    if len(note) > LONGEST_NOTE:
        raise ValueError(f"A note has at most {LONGEST_NOTE} characters")
    return note
