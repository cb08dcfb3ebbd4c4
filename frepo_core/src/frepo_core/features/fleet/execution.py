"""Does what was planned, each thing in a transaction of its own: after an interruption, the next run does the rest."""

import contextlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from frepo_core.domain.backups.guards import SAFE_GUARDS
from frepo_core.errors import NotFoundError
from frepo_core.services.events.actors import console_identity
from frepo_core.web.v1.collections.models import collection_change
from frepo_core.web.v1.tokens.models import TokenDraft, columns

from ..enrolment.codes import NewCode
from ..enrolment.feature import EnrolmentServices
from ..restore_tests.feature import RestoreTestServices
from .plan import CodeStep, CollectionStep, Plan, TokenStep

if TYPE_CHECKING:
    from frepo_core.services.composition.core_services import CoreServices


class Execution:
    """Executes plans through the services that `/api/v1` uses."""

    def __init__(self, core: "CoreServices") -> None:
        self._core = core

    def run(self, plan: Plan, secrets: Mapping[str, str], *, done: Callable[[], None] = lambda: None) -> None:
        """Do all steps: tokens, then collections, codes, and what is absent. `done` is called after each.

        `secrets` has an id for each new token and a code for each new one-time code, by its key; a file has them
        already. Raises what a service refuses, because the fleet has changed since the plan was made.
        """
        keys = dict(plan.token_keys)
        for token in [one for one in plan.tokens if not one.is_deleted]:
            keys |= self._make_token(token, secrets) if not token.rows else {}
            self._edit_token(token)
            done()
        for collection in [one for one in plan.collections if not one.is_deleted]:
            self._make_collection(collection, keys)
            done()
        for code in plan.codes:
            self._make_code(code, secrets)
            done()
        for collection in [one for one in plan.collections if one.is_deleted]:
            self._core.collections.delete(collection.id, by=console_identity(), with_versions=True)
            done()
        for token in [one for one in plan.tokens if one.is_deleted]:
            self._revoke(token)
            done()

    def _make_token(self, step: TokenStep, secrets: Mapping[str, str]) -> Mapping[str, str]:
        sent = step.wanted.model_dump(exclude={"fingerprint", "state", "enrol"}, exclude_unset=True)
        new = TokenDraft.model_validate(sent).new_token()
        expires = new.expires if "expires_at" in sent else "never"
        name = new.name if "name" in sent else step.key
        new = replace(new, id=secrets[step.key], expires=expires, name=name, fleet_key=step.key)
        self._core.tokens.generate(new)
        return {step.key: self._core.tokens.key(secrets[step.key]) or ""}

    def _make_code(self, step: CodeStep, secrets: Mapping[str, str]) -> None:
        codes = self._core.feature(EnrolmentServices).codes
        if step.open is not None and not step.collections:
            codes.revoke(step.open)
        elif step.open is not None:
            codes.list_collections(step.open, step.collections)
        else:
            name, code = step.wanted.changes().get("name") or step.key, secrets[step.key]
            end = step.wanted.changes().get("expires_at")
            codes.create(
                NewCode(name=name, collections=step.collections, token_expires_at=end, code=code, fleet_key=step.key)
            )

    def _edit_token(self, step: TokenStep) -> None:
        if step.rows and step.values:
            values = {name: value for name, value in step.values.items() if name != "restrictions"}
            values |= columns(step.values.get("restrictions", {}))
            self._core.token_changes.edit(step.rows[-1], values)

    def _revoke(self, step: TokenStep) -> None:
        for fingerprint in step.rows:
            with contextlib.suppress(NotFoundError):  # it was of the chain of one before it
                self._core.token_changes.revoke(fingerprint)

    def _make_collection(self, step: CollectionStep, keys: Mapping[str, str]) -> None:
        core = self._core
        change = replace(collection_change(step.change), fleet_key=step.key)
        if step.is_new:
            core.collections.create(replace(change, id=step.id), by=None, default_guards=SAFE_GUARDS)
        elif step.change or step.is_adopted:
            core.collections.edit(step.id, change, by=console_identity())
        for key in step.revokes:
            core.token_lists.disallow(step.id, key)
        for one in step.grants:
            core.token_lists.allow(step.id, keys[one])
        if step.choice:
            collection = core.collections.get(step.id)
            core.feature(RestoreTestServices).choices.set(collection, step.choice, by=None)
        if step.hold:
            core.holds.set(step.id, step.hold, by=None)
        elif step.hold is not None:
            core.holds.end(step.id, by=None)
