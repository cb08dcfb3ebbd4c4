"""Finds environment variables whose names resemble a setting: a misspelt one would be ignored without a word."""

import logging
from collections.abc import Collection, Iterator, Mapping

log = logging.getLogger(__name__)

DISTANCE = 2


def warn_about_misspellings(environment: Mapping[str, str], names: Collection[str]) -> None:
    """Log a warning for each variable that resembles one of these environment names; its value is not logged."""
    for variable, name in find_misspellings(environment, names):
        log.warning("The environment variable %s is not a setting of frepo. Did you mean %s?", variable, name)


def find_misspellings(environment: Mapping[str, str], names: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield each variable that is set and not one of the names, with a name that is at most two edits away."""
    known = [(name, set(name)) for name in sorted(names)]
    for variable, value in sorted(environment.items()):
        if value and variable not in names:
            upper, characters = variable.upper(), set(variable.upper())
            for name, others in known:
                # An edit adds one character and removes another at most. Counting them is much faster than trying
                # edits.
                if len(characters ^ others) <= 2 * DISTANCE and is_within(upper, name, DISTANCE):
                    yield variable, name


def is_within(one: str, other: str, distance: int) -> bool:
    """Return whether at most `distance` insertions, deletions or replacements turn one text into the other."""
    if abs(len(one) - len(other)) > distance:
        return False
    length = next((i for i, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), None)
    if length is None:
        return True  # the rest of the longer one is short enough
    if distance == 0:
        return False
    one, other = one[length:], other[length:]
    edits = ((one[1:], other), (one, other[1:]), (one[1:], other[1:]))
    return any(is_within(*pair, distance - 1) for pair in edits)
