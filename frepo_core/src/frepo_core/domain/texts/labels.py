"""The labels of a collection: how many there may be, how long, and of which characters."""

import unicodedata
from collections.abc import Iterable

MAX_LABELS, MAX_LABEL = 20, 64


def check_labels(labels: Iterable[str]) -> list[str]:
    """Return the labels in NFC, stripped and without repetitions. Raises `ValueError` with a message for the user."""
    found = list(dict.fromkeys(unicodedata.normalize("NFC", label).strip() for label in labels))
    if len(found) > MAX_LABELS:
        raise ValueError(f"there are {len(found)} labels; at most {MAX_LABELS} are allowed")
    for label in found:
        if not label or len(label) > MAX_LABEL or not label.isprintable():
            raise ValueError(f"{label[:MAX_LABEL]!r} is not a label: write 1 to {MAX_LABEL} printable characters")
    return found
