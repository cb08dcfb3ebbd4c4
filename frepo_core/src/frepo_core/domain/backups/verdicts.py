"""The verdict about a version: what is known about it, in one word, from what checks, guards and people have said."""

from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum

from ..structs import struct

MAX_REASON = 200
# The name of the check that a restore test of the service records.
RESTORE = "restore"


class Verdict(StrEnum):
    """What is known about a version, the best first.

    - `restored`: a restore test of the service has loaded it.
    - `complete`: its end was seen, by a check that knows the format or by the client that sent it.
    - `whole`: its container is intact, what is in it is unknown.
    - `unchecked`: nothing can be said.
    - `pending`: a check that could condemn it has not ended.
    - `suspicious`: something is odd.
    - `broken`: it is not a backup.
    """

    RESTORED = "restored"
    COMPLETE = "complete"
    WHOLE = "whole"
    UNCHECKED = "unchecked"
    PENDING = "pending"
    SUSPICIOUS = "suspicious"
    BROKEN = "broken"

    @property
    def is_good(self) -> bool:
        """Whether the version counts as a good backup: nothing is known against it."""
        return self in GOOD


GOOD = (Verdict.RESTORED, Verdict.COMPLETE, Verdict.WHOLE, Verdict.UNCHECKED)


@struct
class CheckFact:
    """What one check said: its outcome, a sentence, what it looked at (`container` or `content`), and when."""

    name: str
    outcome: str
    message: str = ""
    covers: str | None = None
    at: datetime | None = None
    is_of_service: bool = True

    @property
    def verdict(self) -> Verdict:
        """The verdict if nothing else were known. What a client posts says nothing."""
        if not self.is_of_service:
            return Verdict.UNCHECKED
        if self.outcome == "good":
            if self.name == RESTORE:
                return Verdict.RESTORED
            return Verdict.COMPLETE if self.covers == "content" else Verdict.WHOLE
        return _OF_OUTCOME.get(self.outcome, Verdict.UNCHECKED)


_OF_OUTCOME = {"broken": Verdict.BROKEN, "suspicious": Verdict.SUSPICIOUS, "pending": Verdict.PENDING}


@struct
class Judgement:
    """A verdict, and why, in at most 200 characters; empty if there is nothing to say."""

    verdict: Verdict
    reason: str = ""


def judge(facts: Iterable[CheckFact], *, objection: str = "", released_at: datetime | None = None) -> Judgement:
    """Return the verdict: the worst that applies of `broken`, `suspicious` and `pending`, the best otherwise.

    `objection` is why a guard finds the version suspicious. What was found up to `released_at`, when a person released
    the version, no longer counts against it.
    """
    found = [Judgement(verdict=fact.verdict, reason=fact.message) for fact in facts if not _is_over(fact, released_at)]
    if objection:
        found.append(Judgement(verdict=Verdict.SUSPICIOUS, reason=objection))
    bad = [one for one in found if not one.verdict.is_good]
    order = list(Verdict)
    if bad:
        judgement = max(bad, key=lambda one: order.index(one.verdict))
    else:
        unknown = Judgement(verdict=Verdict.UNCHECKED)
        judgement = min([*found, unknown], key=lambda one: order.index(one.verdict))
    return Judgement(verdict=judgement.verdict, reason=shorten(judgement.reason))


def shorten(text: str) -> str:
    """Return the text as a reason is stored: in one line of at most 200 characters."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_REASON else f"{line[: MAX_REASON - 1]}…"


def _is_over(fact: CheckFact, released_at: datetime | None) -> bool:
    return not fact.verdict.is_good and released_at is not None and fact.at is not None and fact.at <= released_at
