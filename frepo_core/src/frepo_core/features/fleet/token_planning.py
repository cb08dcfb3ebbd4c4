"""What a fleet file would change of tokens and one-time codes."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

from frepo_core.db import utc_now
from frepo_core.db.models import Token
from frepo_core.domain.token_expiry import problem_with_past

from .current import CurrentFleet
from .fleet_file import FleetFile, FleetToken
from .plan import GONE, NEW, OF_FILE, CodeStep, Findings, TokenStep
from .values import changed, differences, token_values

_OTHER_ROLES = (
    "give the token another key, list that one in the collections, and let this one be `state: absent` when the host "
    "has the other"
)


class _Listing(NamedTuple):
    key: str
    tokens: frozenset[str]


class TokenPlanning:
    """Compares tokens. `rows` are those that there are, and `codes` the steps of codes, by the keys of the file.

    `waiting` are the keys of the tokens that hosts make with one-time codes, and have not made yet.
    """

    def __init__(self, current: CurrentFleet, file: FleetFile, found: Findings, admin_key: str | None) -> None:
        self.rows: dict[str, Token] = {}
        self.codes: dict[str, CodeStep] = {}
        self.waiting: set[str] = set()
        self._current = current
        self._file = file
        self._found = found
        self._admin_key = admin_key

    @cached_property
    def _listings(self) -> Mapping[str, "_Listing"]:
        """The lists of tokens that the file has, by the ids of their collections."""
        return {
            self._current.place_of(key, one): _Listing(key, frozenset(one.tokens))
            for key, one in self._file.collections.items()
            if one.tokens is not None and one.state != GONE
        }

    def plan(self, key: str, wanted: FleetToken) -> TokenStep | None:
        """Return what to do with a token, None for nothing. What to do with its code is in `codes`."""
        rows = self._current.find_tokens(key, wanted)
        names = [one.fingerprint for one in rows]
        if rows and not self._found.take("tokens", key, rows[-1].key):
            return None
        if rows and rows[-1].key == self._admin_key:
            self._found.refuse("tokens", key, "is that of the setting security.admin_token: leave it out")
            return None
        if wanted.state == GONE:
            self._end_code(key, wanted)
            if rows:
                self._found.note("token", key, GONE, rows[-1].name or rows[-1].fingerprint, None)
            return TokenStep(key=key, wanted=wanted, rows=names, is_deleted=True) if rows else None
        sent = {name: value for name, value in wanted.changes().items() if name not in OF_FILE}
        if problem := problem_with_past(sent.get("expires_at"), now=utc_now()):
            self._found.refuse("tokens", key, f"expires_at: {problem}")
            return None
        if wanted.enrol and not rows:
            self._plan_code(key, wanted)
            return None
        if not rows:
            return self._new_token(key, wanted, sent)
        if sent.get("expires_at"):
            sent["expires_at"] = sent["expires_at"].replace(microsecond=0)  # as `token_values`
        self.rows[key] = row = rows[-1]
        current = token_values(row)
        values = changed(sent | ({"roles": sorted(sent["roles"])} if "roles" in sent else {}), current)
        if "roles" in values:
            self._found.refuse(
                "tokens", key, f"roles are {', '.join(current['roles'])}, and cannot be changed: {_OTHER_ROLES}"
            )
            return None
        self._found.differences += differences("token", key, values, current)
        if not row.fleet_key:
            self._found.note("token", key, "key", None, key)
            values["fleet_key"] = key
        return TokenStep(key=key, wanted=wanted, rows=names, values=values) if values else None

    def _new_token(self, key: str, wanted: FleetToken, sent: Mapping[str, Any]) -> TokenStep | None:
        if wanted.fingerprint:
            known = "no valid token without a key has the fingerprint"
            self._found.refuse("tokens", key, f"{known} {wanted.fingerprint}")
            return None
        if not sent.get("roles"):
            self._found.refuse("tokens", key, "roles are missing: a new token needs some")
            return None
        self._found.note("token", key, NEW, None, sent.get("name") or key)
        return TokenStep(key=key, wanted=wanted)

    def _plan_code(self, key: str, wanted: FleetToken) -> None:
        """Plan a code for the collections that list the key; one that there is stays for those that the file lacks."""
        self.waiting.add(key)
        code, known, listing = self._current.codes.get(key), self._listings.keys(), self._listing(key)
        if code is None:
            self._found.note("token", key, "code", None, wanted.name or key)
            self.codes[key] = CodeStep(key=key, wanted=wanted, collections=sorted(listing))
        elif code.collections & known != listing:
            for one in sorted((code.collections & known) ^ listing):
                change = (None, key) if one in listing else (key, None)
                self._found.note("collection", self._listings[one].key, "tokens", *change)
            after = sorted(listing | (code.collections - known))
            self.codes[key] = CodeStep(key=key, wanted=wanted, collections=after, open=code.id)

    def _listing(self, key: str) -> set[str]:
        return {one for one, listing in self._listings.items() if key in listing.tokens}

    def _end_code(self, key: str, wanted: FleetToken) -> None:
        if (code := self._current.codes.get(key)) is not None:
            self._found.note("token", key, "code", wanted.name or key, None)
            self.codes[key] = CodeStep(key=key, wanted=wanted, collections=(), open=code.id)
