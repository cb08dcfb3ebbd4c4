"""What an examination finds."""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from frepo_core.domain.structs import struct
from frepo_core.errors import FrepoError


class Level(StrEnum):
    """How bad a finding is. A problem must be solved; a warning should be looked at."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@struct
class Finding:
    """What a check found, and what to do; the latter is empty if there is nothing to do."""

    subject: str
    level: Level
    message: str
    remedy: str = ""


def good(subject: str, message: str) -> Finding:
    """Return a finding that nothing is wrong."""
    return Finding(subject=subject, level=Level.OK, message=message)


def warning(subject: str, message: str, remedy: str) -> Finding:
    """Return a finding that should be looked at."""
    return Finding(subject=subject, level=Level.WARNING, message=message, remedy=remedy)


def problem(subject: str, message: str, remedy: str) -> Finding:
    """Return a finding that must be solved."""
    return Finding(subject=subject, level=Level.PROBLEM, message=message, remedy=remedy)


def guarded(subject: str, find: Callable[[], Iterable[Finding]], remedy: str) -> Iterator[Finding]:
    """Yield the findings of a check. An error of it is a problem; the other checks go on."""
    try:
        yield from find()
    except FrepoError as error:
        yield problem(subject, error.message, error.explanation or remedy)
    except OSError as error:
        yield problem(subject, f"{type(error).__name__}: {error.strerror or error}", remedy)
