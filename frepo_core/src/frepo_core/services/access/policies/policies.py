"""Asks the policies of plug-ins before a version is uploaded, deleted or downloaded. No transaction is open then."""

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import get_args

from sqlalchemy import select
from sqlalchemy.orm import Session

from frepo_core.db import Database, utc_now
from frepo_core.db.models import Collection, Version
from frepo_core.domain.identity import By, describe_actor
from frepo_core.domain.naming import printable
from frepo_core.domain.structs import struct
from frepo_core.errors import ConfigurationError, PolicyFailedError, PolicyRefusedError
from frepo_core.plugins import CollectionInfo, PluginContext, PolicyRefusal, PolicyRequest, UploadPolicy
from frepo_core.plugins.checks.upload_policy import OnFailure, PolicyAction, check_on_failure
from frepo_core.plugins.registry import Owned, PluginRegistry

from ...base.plugin_deadlines import PluginHangs, PluginThreads
from ...base.plugin_failures import PLUGIN_FAILURES, describe_failure, raise_interrupt, storable
from ...base.records import CollectionRecord, FileRecord, collection_info
from ...events.actors import actor_columns

log = logging.getLogger(__name__)

DEADLINE = 2.0  # seconds for one call
NOUNS: Mapping[PolicyAction, str] = {"upload": "upload", "delete": "deletion", "download": "download"}


@struct
class _Policy:
    """A policy with its threads, and what follows if it fails."""

    spec: UploadPolicy
    origin: str
    context: PluginContext
    on_failure: OnFailure | None
    threads: PluginThreads

    def ask(self, request: PolicyRequest) -> None:
        """Ask the policy. Raises `PolicyRefusedError`, or `PolicyFailedError` if it fails and refuses then."""
        try:
            answer: object = self.threads.call(partial(self.spec.decide, request, self.context), seconds=DEADLINE)
            if answer is not None:
                raise TypeError(f"decide returned {answer!r}; it returns None or raises PolicyRefusal")
        except PolicyRefusal as refusal:
            context = {"policy": self.spec.name, "message": storable(str(refusal.reason))}
            raise PolicyRefusedError(context=context) from refusal
        except PluginHangs as hangs:
            self._fail(request, str(hangs))
        except PLUGIN_FAILURES as error:
            raise_interrupt(error)
            log.exception("%s failed", self.origin)
            self._fail(request, f"failed: {describe_failure(error)}")

    def _fail(self, request: PolicyRequest, how: str) -> None:
        noun = NOUNS[request.action]
        follows = self.on_failure or ("allow" if request.action == "upload" else "refuse")
        if follows == "allow":
            log.error("%s %s. The %s is allowed", self.origin, how, noun)
            return
        raise PolicyFailedError(
            f"{self.origin[0].upper()}{self.origin[1:]} {how.partition(':')[0]}, so the {noun} is refused. "
            "The log of the service says why. Fix the package, or switch the plug-in off, and restart the service"
        ) from None


class Policies:
    """The policies that are in use. Raises `ConfigurationError` if the settings of one are wrong."""

    def __init__(self, database: Database, plugins: PluginRegistry, contexts: Mapping[str, PluginContext]) -> None:
        self._database = database
        made = [_prepare(owned, contexts[owned.plugin.name]) for owned in plugins.upload_policies.values()]
        self._by_action: dict[PolicyAction, list[_Policy]] = {
            action: [policy for policy in made if action in policy.spec.actions] for action in get_args(PolicyAction)
        }

    def check(
        self,
        action: PolicyAction,
        collection: CollectionInfo | CollectionRecord,
        *,
        by: By,
        version: int | None = None,
        size: int | None = None,
        takes_last_good: bool = False,
    ) -> None:
        """Ask the policies for this action, one after the other, as described in `PolicyRequest`.

        Raises `PolicyRefusedError`, or `PolicyFailedError` for one that fails and refuses then.
        """
        if not self._by_action[action]:
            return
        who = actor_columns(by)
        request = PolicyRequest(
            action=action,
            collection=collection_info(collection) if isinstance(collection, CollectionRecord) else collection,
            version=version,
            size=size,
            takes_last_good=takes_last_good,
            actor=who["actor"] or "",
            actor_name=who["actor_name"] or "",
            address=who["address"] or "",
            at=utc_now(),
        )
        for policy in self._by_action[action]:
            try:
                policy.ask(request)
            except PolicyRefusedError as error:
                _log_refusal(request, by, error)
                raise

    def check_deletion(self, collection_id: str, *, by: By, find: Callable[[Session], tuple[int | None, bool]]) -> None:
        """Ask about the deletion of a version, or of all.

        `find` returns `version` and `takes_last_good`, and is called only if there are policies. Raises as `check`
        does, and what `find` raises. A collection that does not exist is not asked about.
        """
        if not self._by_action["delete"]:
            return
        with self._database.reading() as session:
            row = session.get(Collection, collection_id.lower())
            collection = CollectionRecord.of(row) if row else None
            number, takes_last_good = find(session)
        if collection is not None:
            self.check("delete", collection, by=by, version=number, takes_last_good=takes_last_good)

    def check_download(self, file: FileRecord, *, by: By) -> None:
        """Ask about the download of a file, if it is a version. Raises as `check` does."""
        if not self._by_action["download"] or not file.is_version:
            return
        query = select(Collection, Version.number).join(Version, Version.collection_id == Collection.id)
        with self._database.reading() as session:
            row = session.execute(query.where(Version.file_id == file.id)).one_or_none()
            found = (CollectionRecord.of(row[0]), row[1]) if row else None
        if found is not None:
            self.check("download", found[0], by=by, version=found[1], size=file.blob.size)


def _prepare(owned: Owned[UploadPolicy], context: PluginContext) -> _Policy:
    spec, origin = owned.spec, f"the policy {owned.spec.name!r} ({owned.plugin.origin})"
    try:
        chosen = spec.on_failure(context.settings) if callable(spec.on_failure) else spec.on_failure
        on_failure = None if chosen is None else check_on_failure(chosen)
    except PLUGIN_FAILURES as error:
        raise_interrupt(error)
        raise ConfigurationError(f"{origin} cannot be used: {describe_failure(error)}") from error
    threads = PluginThreads(f"policy {spec.name}", DEADLINE)
    return _Policy(spec=spec, origin=origin, context=context, on_failure=on_failure, threads=threads)


def _log_refusal(request: PolicyRequest, by: By, error: PolicyRefusedError) -> None:
    """Log who was refused a deletion or a download. A refused upload is logged and recorded by its use case."""
    if request.action == "upload":
        return
    what = "all versions" if request.version is None else f"version v{request.version}"
    why = printable(" ".join((error.explanation or "").split()))
    log.warning(
        "collection %s: the %s of %s by %s was refused: %s",
        request.collection.id,
        NOUNS[request.action],
        what,
        describe_actor(by),
        why,
    )
