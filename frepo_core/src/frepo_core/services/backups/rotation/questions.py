"""The question to a strategy that a write needs answered: asked before the write, and again if outdated then."""

from collections.abc import Callable
from typing import TypeVar

from frepo_core.errors import FrepoError, OutdatedDecisionError
from frepo_core.plugins import VersionInfo

from ...base.records import CollectionRecord
from .decision import Ask, RotationState
from .strategies import MakeIncoming, Strategies, StrategyAnswer

Result = TypeVar("Result")

TRIES = 20
CHANGED = "Others change this collection all the time, try again later"


class Question:
    """A question about an incoming version of one collection, and the answer to it. For one use case.

    `spares_good` says that the incoming version is not good, so that the newest good one is hidden from the strategy.
    """

    def __init__(
        self,
        strategies: Strategies,
        collection_id: str,
        make_incoming: MakeIncoming,
        *,
        answer: StrategyAnswer | None = None,
        plan: Callable[[CollectionRecord], CollectionRecord] = lambda current: current,
        version_id: str = "",
    ) -> None:
        """`answer` is one that was given a moment ago, and may be used if nothing has changed.
        `version_id` is that of the version if it is in the collection already.

        `plan` returns the collection as the write transaction will change it, or raises what that raises, too.
        """
        self.answer = answer
        self._strategies = strategies
        self._collection_id = collection_id
        self._make_incoming = make_incoming
        self._plan = plan
        self.spares_good = False
        self.version_id = version_id

    def settle(self, transact: Callable[[], Result]) -> Result:
        """Ask, then run a write transaction that uses `ask_in`. If the answer is outdated, ask again and run it again.

        The uploads of this process to one collection take turns, so that they do not outdate each other's answers.
        Raises `OutdatedDecisionError` if other processes do that again and again.
        """
        if self.answer is None:
            self._ask()
        with self._strategies.turns.take(self._collection_id):
            for _ in range(TRIES - 1):
                try:
                    return transact()
                except OutdatedDecisionError:
                    self._ask()
            return transact()

    def ask_in(self, collection: CollectionRecord, state: RotationState) -> Ask:
        """Return the function that `decide` calls in a transaction, which has locked the collection."""

        def ask() -> "list[VersionInfo]":
            if self.answer is None or not self.answer.is_about(collection, state):
                raise OutdatedDecisionError(CHANGED)
            return self.answer.get()

        return ask

    def _ask(self) -> None:
        try:
            self.answer = self._strategies.ask(
                self._collection_id,
                self._make_incoming,
                self._plan,
                spares_good=self.spares_good,
                version_id=self.version_id,
            )
        except FrepoError:  # the transaction raises it where the caller expects it, such as after a precondition
            self.answer = None
