"""What a check of a content can end with: a report, or one of the exceptions that the checkers raise."""

from dataclasses import dataclass, replace
from typing import Literal, Self

Outcome = Literal["good", "pending", "not checked"]
Covers = Literal["container", "content"]
FoundVerdict = Literal["broken", "suspicious"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result for a content that is not broken. `kinds` names its formats from the outside in, such as gzip, tar.

    `covers` says how far `good` goes, as in a `CheckResult`. `label` is what people call the innermost format, and
    `database` the database that it names; both are empty if they are not known. `look` is what a content of no known
    format looks like, see `messages.look_at`. `has_looked` is false if nothing can be said about the formats, such as
    for a check that is switched off.
    """

    outcome: Outcome
    message: str
    kinds: tuple[str, ...] = ()
    covers: Covers = "container"
    label: str = ""
    database: str = ""
    look: str = ""
    has_looked: bool = True

    def inside(self, kind: str) -> Self:
        """Return the report about a container whose content this report is about."""
        return replace(self, kinds=(kind, *self.kinds))

    @property
    def names(self) -> tuple[str, ...] | None:
        """The formats as people call them, from the outside in, such as gzip, PostgreSQL dump; None if unknown."""
        if not self.has_looked:
            return None
        if self.look:
            return (*self.kinds, self.look)
        return (*self.kinds[:-1], self.label) if self.label else self.kinds


def switched_off(kind: str, kinds: tuple[str, ...] = ()) -> Report:
    """Return the report about a content of a kind that the settings switch off."""
    message = f"The check of {kind} is switched off"
    return Report(outcome="not checked", message=message, kinds=kinds, has_looked=False)


class BrokenContent(Exception):
    """The content is not what its format says. `kind` is the format, `message` is a sentence for a person.

    `verdict` is `suspicious` if the content is odd and may be right nevertheless.
    """

    def __init__(
        self, kind: str, message: str, kinds: tuple[str, ...] = (), *, verdict: FoundVerdict = "broken"
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.kinds = kinds or (kind,)
        self.verdict = verdict

    def inside(self, kind: str) -> "BrokenContent":
        """Return the exception as seen from the container."""
        return BrokenContent(self.kind, self.message, (kind, *self.kinds), verdict=self.verdict)


class EmptyContent(BrokenContent):
    """There is nothing in the content, or in the container that it is."""


class LittleContent(BrokenContent):
    """Next to nothing is in what encrypts it: where a dump or an archive should be, its program has failed.

    Elsewhere it may be right. What a report says then are `outcome` and `otherwise`.
    """

    def __init__(self, kind: str, otherwise: str, outcome: Outcome = "good") -> None:
        message = "There is next to nothing in the encrypted file: what should be encrypted has probably failed"
        super().__init__(kind, message, verdict="suspicious")
        self.otherwise = otherwise
        self.outcome = outcome


class NotCheckable(Exception):
    """This part cannot be checked, for example because it is encrypted. What it is in can.

    `source` is the stream that could not be decompressed, where that is the reason. `needs_memory` says that it could
    be with more memory.
    """

    def __init__(self, message: str, source: object = None, *, needs_memory: bool = False) -> None:
        super().__init__(message)
        self.source = source
        self.needs_memory = needs_memory


class BoundReached(Exception):
    """The whole check ends, because the content unpacks to more than the settings allow."""


class OutOfTime(Exception):
    """The check takes longer than it may."""


class OutOfMemory(Exception):
    """A decompressor needs more memory than a check of an upload may use. The job's check may use more."""
