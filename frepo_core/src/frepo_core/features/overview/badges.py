"""Badges: small pictures that show the state of a collection, or of all, to everybody who knows their code."""

import hmac

from frepo_core.domain.signatures import badge_code
from frepo_core.domain.structs import struct
from frepo_core.errors import FieldsError, NotFoundError
from frepo_core.services.backups.collections.collection_pages import CollectionPages
from frepo_core.services.backups.collections.collections import Collections
from frepo_core.services.backups.collections.states import BackupState, Severity, severity_of
from frepo_core.settings import Settings

from .overview import Overviews

ALL = "all"
UNKNOWN = "There is no such badge: the code is wrong, or the collection was deleted"


@struct
class Badge:
    """What a badge shows: a word, and how bad it is."""

    text: str
    severity: Severity


class Badges:
    """Makes and reads the codes of badges, and says what they show: the state alone, neither a name nor a size."""

    def __init__(
        self, settings: Settings, collections: Collections, pages: CollectionPages, overviews: Overviews
    ) -> None:
        self._phrase = settings.enc_token_phrase.get_secret_value()
        self._collections = collections
        self._pages = pages
        self._overviews = overviews

    def code(self, subject: str) -> str:
        """Return the code of the badge of a collection, by its id, or of `all`."""
        return badge_code(self._phrase, subject)

    def show(self, subject: str, code: str) -> Badge:
        """Return what a badge shows. Raises `NotFoundError`, for a wrong code as for a collection that is gone."""
        if not hmac.compare_digest(self.code(subject).encode(), code.encode()):
            raise NotFoundError(UNKNOWN)
        if subject == ALL:
            return self._all()
        try:
            details = self._pages.details(self._collections.get(subject))
        except FieldsError:
            raise NotFoundError(UNKNOWN) from None
        state = details.state.state
        return Badge(text=state.value, severity=severity_of(state))

    def _all(self) -> Badge:
        counts = {state: number for state, number in self._overviews.read().collections.by_state.items() if number}
        severity = max((severity_of(state) for state in counts), default=Severity.OK)
        bad = {state: number for state, number in counts.items() if severity_of(state) is not Severity.OK}
        text = ", ".join(f"{number} {state.value}" for state, number in bad.items())
        if not text:
            text = "ok" if counts.get(BackupState.OK) else "no backup"
        return Badge(text=text, severity=severity)
